package org.draftmill.job;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Processes of their own, and signals to them. */
public final class TestingProcess {
  private TestingProcess() {}

  /**
   * Starts {@code draftmill train} in a JVM that has of this one's options those that its modules
   * need.
   *
   * @param output for all that it prints
   * @param overrides options that go before the run file
   */
  public static Process train(Path output, TestingRuns runs, String... overrides)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> argument.startsWith("--add-"))
        .forEach(command::add);
    command.addAll(List.of("-Xmx512m", "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Draftmill.class.getName(), "train"));
    command.addAll(List.of(runs.arguments(overrides)));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start();
  }

  /**
   * @param which as {@code kill} takes it: {@code -INT}
   */
  public static void signal(Process process, String which)
      throws IOException, InterruptedException {
    new ProcessBuilder("kill", which, Long.toString(process.pid())).start().waitFor();
  }
}
