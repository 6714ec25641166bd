package org.draftmill.box;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the parts of a running box lie:
 *
 * <pre>
 * conf/config.yaml          what the processes and Flink's command line read
 * conf/client.args, .env    how to start Flink's command line
 * log/NAME.log, NAME.out    one pair for each process: jobmanager-1, taskmanager-1, …
 * run/NAME.pid, NAME.args   process ids and the arguments of the JVMs
 * savepoints/               of flink stop and flink savepoint; they stay
 * tmp/  ha/                 for Flink; emptied when the box starts
 * </pre>
 */
public record Layout(Path root) {
  private static final String MARK = ".local-cluster";
  private static final String PID = ".pid";
  private static final String ARGUMENTS = ".args";

  public Layout {
    root = root.toAbsolutePath().normalize();
  }

  /** Whether a cluster may be started there: nothing of anybody else's would be deleted. */
  boolean isVacant() throws IOException {
    if (!Files.exists(root)) {
      return true;
    }
    if (!Files.isDirectory(root)) {
      return false;
    }
    try (Stream<Path> content = Files.list(root)) {
      return Files.exists(root.resolve(MARK)) || content.findAny().isEmpty();
    }
  }

  /** Marks the folder as that of a cluster. */
  void claim() throws IOException {
    Files.createDirectories(root);
    Files.write(root.resolve(MARK), new byte[0]);
  }

  Path conf() {
    return root.resolve("conf");
  }

  Path log() {
    return root.resolve("log");
  }

  Path run() {
    return root.resolve("run");
  }

  Path savepoints() {
    return root.resolve("savepoints");
  }

  Path tmp() {
    return root.resolve("tmp");
  }

  Path ha() {
    return root.resolve("ha");
  }

  Path logFile(String member) {
    return log().resolve(member + ".log");
  }

  Path outFile(String member) {
    return log().resolve(member + ".out");
  }

  Path pidFile(String member) {
    return run().resolve(member + PID);
  }

  Path argumentsFile(String member) {
    return run().resolve(member + ARGUMENTS);
  }

  /** Processes that were started and not yet stopped, whether they live or not. */
  List<String> members() {
    return names(PID);
  }

  /** The number for the next process of a kind: one that was killed does not give its back. */
  int nextNumber(Role role) {
    return 1
        + names(ARGUMENTS).stream()
            .filter(role::isOf)
            .mapToInt(name -> Integer.parseInt(name.substring(name.lastIndexOf('-') + 1)))
            .max()
            .orElse(0);
  }

  private List<String> names(String suffix) {
    if (!Files.isDirectory(run())) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(run())) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(suffix))
          .map(name -> name.substring(0, name.length() - suffix.length()))
          .sorted(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot list " + run(), e);
    }
  }
}
