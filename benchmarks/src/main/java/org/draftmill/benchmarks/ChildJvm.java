package org.draftmill.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Another JVM with this one's class path and options, but a heap of its own. */
final class ChildJvm {
  private ChildJvm() {}

  /**
   * Runs a main class to its end.
   *
   * @param heap as {@code -Xmx} takes it
   * @return the figures that it printed, one {@code name value} a line, in their order
   * @throws IOException if it does not end with 0, running out of heap say
   */
  static Map<String, Double> figures(String heap, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command(heap, main.getName(), arguments))
            .redirectError(Redirect.INHERIT)
            .start();
    String printed =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    int code = process.waitFor();
    if (code != 0) {
      throw new IOException(
          "%s with a heap of %s ended with %d: %s"
              .formatted(main.getSimpleName(), heap, code, printed));
    }
    Map<String, Double> figures = new LinkedHashMap<>();
    for (String line : printed.split("\n")) {
      String[] figure = line.split(" ");
      figures.put(figure[0], Double.valueOf(figure[1]));
    }
    return figures;
  }

  /** The command line of such a JVM. */
  static List<String> command(String heap, String main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options());
    command.add("-Xmx" + heap);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
    command.addAll(List.of(arguments));
    return command;
  }

  /** This JVM's options without the size of its heap. */
  static List<String> options() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> !option.startsWith("-Xmx") && !option.startsWith("-javaagent"))
        .toList();
  }
}
