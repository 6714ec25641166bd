package org.draftmill.box;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What {@code flink-conf/local-cluster.sh} does besides Flink's own command line. */
@Command(
    name = "local-cluster.sh",
    description = "A Flink cluster on this machine: separate processes, web UI.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Its folder is target/cluster: configuration, logs, process ids. FLINK_HOME names a Flink 2.3",
      "distribution; without it Flink's jars are gathered from Maven into target/. Exit codes: 0 done,",
      "1 failed, 2 unusable options."
    })
public final class LocalCluster {
  @Option(
      names = "--dir",
      required = true,
      hidden = true,
      scope = CommandLine.ScopeType.INHERIT,
      description = "Folder of the cluster.")
  private Path dir;

  @Option(names = "--home", required = true, hidden = true, scope = CommandLine.ScopeType.INHERIT)
  private Path home;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      scope = CommandLine.ScopeType.INHERIT,
      hidden = true)
  private Path config;

  private LocalCluster() {}

  public static void main(String[] arguments) {
    System.exit(run(arguments));
  }

  static int run(String... arguments) {
    CommandLine commandLine = new CommandLine(new LocalCluster());
    commandLine.setCaseInsensitiveEnumValuesAllowed(true);
    commandLine.setExecutionExceptionHandler(
        (e, command, parsed) -> {
          if (e instanceof BoxException failure) {
            System.err.println("error: " + failure.getMessage());
            return failure.exitCode();
          }
          throw e;
        });
    return commandLine.execute(arguments);
  }

  private Box box() {
    return new Box(new Layout(dir), System.out);
  }

  @Command(name = "start", description = "Starts a cluster and waits until it is up.")
  void start(
      @Option(
              names = {"-n", "--task-managers", "--taskmanagers"},
              paramLabel = "N",
              defaultValue = "1",
              description = "How many TaskManagers; 1 if not given.")
          int taskManagers,
      @Option(
              names = "--slots",
              paramLabel = "N",
              description = "Slots of each TaskManager; as configured if not given.")
          Optional<Integer> slots,
      @Option(
              names = "--gpus",
              paramLabel = "N",
              description = "GPUs that each TaskManager pretends to have.")
          Optional<Integer> gpus,
      @Option(
              names = "--port",
              paramLabel = "N",
              description = "Port of the web UI, 0 for any; as configured if not given.")
          Optional<Integer> port,
      @Option(
              names = "--ha",
              description = "High availability by a ZooKeeper, so that a JobManager may die.")
          boolean highAvailability,
      @Option(
              names = "--while-pid",
              paramLabel = "PID",
              description = "The cluster is killed when that process has ended.")
          Optional<Long> parent,
      @Option(
              names = "--timeout",
              paramLabel = "SECONDS",
              defaultValue = "120",
              description = "Until everything must be up; 120 if not given.")
          long seconds,
      @Option(
              names = "-D",
              paramLabel = "key=value",
              description = "A Flink option, before the configuration; may be given many times.")
          List<String> overrides)
      throws Exception {
    box()
        .start(
            new StartSettings(
                FlinkHome.of(home),
                config,
                taskManagers,
                slots,
                port,
                gpus,
                highAvailability,
                parent,
                Duration.ofSeconds(seconds),
                overrides == null ? List.of() : new ArrayList<>(overrides)));
  }

  @Command(
      name = "add",
      description = "Starts one more process, in the place of one that died, say.")
  void add(
      @Parameters(paramLabel = "taskmanager|jobmanager", description = "Which kind.") Role role,
      @Option(
              names = "--timeout",
              paramLabel = "SECONDS",
              defaultValue = "120",
              description = "Until it must be up; 120 if not given.")
          long seconds)
      throws Exception {
    if (role == Role.ZOOKEEPER) {
      throw BoxException.unusable("One ZooKeeper is started with --ha; no more can be added.");
    }
    box().add(role, FlinkHome.of(home), Duration.ofSeconds(seconds));
  }

  @Command(name = "status", description = "Says which processes run; exit code 1 if none does.")
  void status() throws Exception {
    box().status();
  }

  @Command(name = "stop", description = "Ends all processes of the cluster.")
  void stop() throws Exception {
    box().stop();
  }
}
