package org.draftmill.box;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A process of a box, known by its pid file. */
final class Member {
  private static final int TAIL_LINES = 20;

  private final Layout layout;
  private final String name;

  Member(Layout layout, String name) {
    this.layout = layout;
    this.name = name;
  }

  String name() {
    return name;
  }

  /** Starts a JVM that outlives this one and the terminal. */
  static Member start(Layout layout, FlinkHome home, String name, JavaArguments arguments)
      throws IOException {
    Path file = layout.argumentsFile(name);
    arguments.write(file);
    ProcessBuilder builder =
        new ProcessBuilder("nohup", java(), "@" + file)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectErrorStream(true)
            .redirectOutput(layout.outFile(name).toFile());
    FlinkEnvironment.of(layout, home).forEach(builder.environment()::put);
    Process process = builder.start();
    Files.writeString(layout.pidFile(name), Long.toString(process.pid()));
    return new Member(layout, name);
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  Optional<Long> pid() throws IOException {
    try {
      return Optional.of(Long.parseLong(Files.readString(layout.pidFile(name)).strip()));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (NumberFormatException e) {
      throw BoxException.failed(
          "%s does not hold a process id; delete it if no process of the cluster runs.",
          layout.pidFile(name));
    }
  }

  /** Its process, unless it died; another one that was given the same id is not it. */
  Optional<ProcessHandle> process() throws IOException {
    return pid().flatMap(ProcessHandle::of).filter(ProcessHandle::isAlive).filter(this::isOurs);
  }

  boolean isAlive() throws IOException {
    return process().isPresent();
  }

  private boolean isOurs(ProcessHandle process) {
    // Arguments are not told of every process, or on every system: then the id must do.
    return process
        .info()
        .commandLine()
        .map(line -> line.contains(layout.argumentsFile(name).toString()))
        .orElse(true);
  }

  /** SIGTERM, and SIGKILL if that does not end it in time. */
  void stop(Duration patience) throws IOException, InterruptedException {
    Optional<ProcessHandle> process = process();
    if (process.isPresent()) {
      process.get().destroy();
      if (!ended(process.get(), patience)) {
        process.get().destroyForcibly();
        ended(process.get(), patience);
      }
    }
    Files.deleteIfExists(layout.pidFile(name));
  }

  private static boolean ended(ProcessHandle process, Duration patience)
      throws InterruptedException {
    try {
      process.onExit().get(patience.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The last lines of what it said, for an error. */
  String lastWords() throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : List.of(layout.logFile(name), layout.outFile(name))) {
      if (Files.exists(file)) {
        List<String> all =
            new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        lines.addAll(all.subList(Math.max(0, all.size() - TAIL_LINES), all.size()));
      }
    }
    return String.join(System.lineSeparator(), lines);
  }
}
