package org.draftmill.job.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** {@code flink-conf/local-cluster.sh} on the cluster of one folder. */
public final class LocalClusterScript {
  /** The checkout; tests run in the folder of their module. */
  public static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  private static final Duration PATIENCE = Duration.ofMinutes(15);

  private final Path cluster;
  private final Map<String, String> environment;

  public LocalClusterScript(Path cluster) {
    this(cluster, Map.of());
  }

  /**
   * @param environment of its processes, beside that of the test
   */
  public LocalClusterScript(Path cluster, Map<String, String> environment) {
    this.cluster = cluster;
    this.environment = environment;
  }

  /** What a command printed, and how it ended. */
  public record Result(int exitCode, String output) {

    /**
     * @throws AssertionError with the output if it failed
     */
    public Result requireDone() {
      if (exitCode != 0) {
        throw new AssertionError("exit code " + exitCode + ": " + output);
      }
      return this;
    }
  }

  /** Runs a command to its end. */
  public Result run(String... arguments) throws IOException {
    Path output = Files.createTempFile("local-cluster", ".out");
    try {
      Process process = start(output, arguments);
      if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(
            String.join(" ", arguments) + " does not end: " + Files.readString(output));
      }
      return new Result(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      Files.delete(output);
    }
  }

  /** Starts a command whose output goes to a file. */
  public Process start(Path output, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(HOME.resolve("flink-conf/local-cluster.sh").toString());
    command.addAll(List.of("--dir", cluster.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(environment);
    return builder.start();
  }
}
