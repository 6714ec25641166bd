package org.draftmill.job.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the JDK's {@code jcmd} says of another JVM. */
final class JvmProbe {
  private static final Pattern METASPACE = Pattern.compile("Metaspace +used (\\d+)K");

  private final long pid;

  JvmProbe(long pid) {
    this.pid = pid;
  }

  /** Collects garbage, class loaders that nothing refers to among it. */
  JvmProbe collected() throws IOException {
    jcmd("GC.run");
    return this;
  }

  /** Bytes that loaded classes take. */
  long metaspace() throws IOException {
    String info = jcmd("GC.heap_info");
    Matcher matcher = METASPACE.matcher(info);
    if (!matcher.find()) {
      throw new AssertionError("no metaspace in: " + info);
    }
    return Long.parseLong(matcher.group(1)) * 1024;
  }

  /** Class loaders of a kind, by the simple name of their class. */
  long classLoaders(String kind) throws IOException {
    return jcmd("VM.classloader_stats")
        .lines()
        .filter(line -> line.endsWith("$" + kind) || line.endsWith("." + kind))
        .count();
  }

  private String jcmd(String... command) throws IOException {
    List<String> all = new ArrayList<>();
    all.add(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString());
    all.add(Long.toString(pid));
    all.addAll(List.of(command));
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IOException(output);
      }
      return output;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
