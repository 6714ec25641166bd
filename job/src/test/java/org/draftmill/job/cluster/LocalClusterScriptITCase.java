package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.job.cluster.LocalClusterScript.Result;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code local-cluster.sh} does when it is used wrongly, and what it leaves behind. */
@Tag("cluster")
@Timeout(3600)
class LocalClusterScriptITCase {
  private static final int FAILED = 1;
  private static final int UNUSABLE = 2;
  private static final String[] SMALL = {
    "--port", "0", "-Djobmanager.memory.process.size=1g", "-Dtaskmanager.memory.process.size=1g"
  };

  @TempDir Path dir;

  private LocalClusterScript script() {
    return new LocalClusterScript(dir.resolve("cluster"));
  }

  @AfterEach
  void stop() throws Exception {
    script().run("stop");
  }

  @Test
  void withoutAClusterEveryCommandSaysThatThereIsNone() throws Exception {
    for (String[] command :
        List.of(
            new String[] {"stop"},
            new String[] {"status"},
            new String[] {"add", "taskmanager"},
            new String[] {"flink", "list"})) {
      Result result = script().run(command);
      assertThat(result.exitCode()).as(result.output()).isEqualTo(FAILED);
      assertThat(result.output()).contains("o cluster runs in", "local-cluster.sh start");
    }
  }

  @Test
  void unusableOptionsAreRefusedWithTheRemedyAndLeaveNothing() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      requireUnusable(script().run("start", "--port", port), port, "--port N");
    }
    requireUnusable(script().run("start", "--task-managers", "0"), "at least 1");
    requireUnusable(script().run("start", "--slots", "x"), "--slots");
    requireUnusable(script().run("start", "--port", "0", "-Dslots"), "-Dkey=value");
    requireUnusable(
        script().run("start", "--port", "0", "-Dtaskmanager.memory.process.size=100m"),
        "memory of the TaskManager");
    requireUnusable(script().run("add", "zookeeper"), "--ha");
    requireUnusable(script().run("begin"), "begin");
    assertThat(processes()).isEmpty();
  }

  @Test
  void whatDiesAtItsStartIsShownAndTheRestIsStopped() throws Exception {
    Result result =
        script().run(args("start", SMALL, "-Denv.java.opts.taskmanager=-XX:NoSuchFlag"));

    assertThat(result.exitCode()).as(result.output()).isEqualTo(FAILED);
    assertThat(result.output()).contains("taskmanager-1 ended at its start", "NoSuchFlag");
    assertThat(processes()).isEmpty();
  }

  @Test
  void startsOnceAddsAndStopsWithoutARest() throws Exception {
    Result started = script().run(args("start", SMALL)).requireDone();
    assertThat(started.output()).contains("web UI       http://localhost:", "TaskManager  process");

    Result again = script().run(args("start", SMALL));
    assertThat(again.exitCode()).isEqualTo(FAILED);
    assertThat(again.output()).contains("A cluster runs here already", "--dir");

    assertThat(script().run("add", "taskmanager").requireDone().output())
        .startsWith("taskmanager-2, process");
    Result second = script().run("add", "jobmanager");
    assertThat(second.exitCode()).isEqualTo(UNUSABLE);
    assertThat(second.output()).contains("--ha");
    assertThat(script().run("flink", "list").requireDone().output()).contains("No running jobs");
    Result jar = script().run("flink", "run", dir.resolve("draftmill-job.jar").toString());
    assertThat(jar.exitCode()).isEqualTo(UNUSABLE);
    assertThat(jar.output()).contains("mvn package");
    assertThat(processes()).hasSize(3);

    script().run("stop").requireDone();
    assertThat(processes()).isEmpty();
    assertThat(script().run("status").exitCode()).isEqualTo(FAILED);
  }

  @Test
  void endsWithTheProcessItWasStartedFor() throws Exception {
    Process parent = new ProcessBuilder("sleep", "600").start();
    try {
      script().run(args("start", SMALL, "--while-pid", Long.toString(parent.pid()))).requireDone();
      assertThat(processes()).hasSize(2);
    } finally {
      parent.destroyForcibly();
    }
    await().atMost(Duration.ofMinutes(5)).until(() -> processes().isEmpty());
  }

  @Test
  void javaThatIsTooOldIsRefused() throws Exception {
    Path java = Files.createDirectories(dir.resolve("jdk/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();

    requireUnusable(
        startWith("JAVA_HOME", dir.resolve("jdk")), "Java 11 is too old", "17, 21 or 25");
  }

  @Test
  void aFolderWithoutFlinkAndOneOfSomebodyElseAreRefused() throws Exception {
    requireUnusable(startWith("FLINK_HOME", dir.resolve("nothing")), "no Flink in", "FLINK_HOME");
    Files.createFile(dir.resolve("thesis.tex"));

    Result result = new LocalClusterScript(dir).run(args("start", SMALL));

    requireUnusable(result, "holds something else than a cluster", "--dir");
    assertThat(dir.resolve("thesis.tex")).exists();
  }

  /** Starts with a variable of the environment. */
  private Result startWith(String variable, Path value) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
                LocalClusterScript.HOME.resolve("flink-conf/local-cluster.sh").toString(),
                "start",
                "--dir",
                dir.resolve("cluster").toString())
            .redirectErrorStream(true);
    builder.environment().put(variable, value.toString());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(), output);
  }

  private static void requireUnusable(Result result, String... parts) {
    assertThat(result.exitCode()).as(result.output()).isEqualTo(UNUSABLE);
    assertThat(result.output()).contains(parts);
  }

  private static String[] args(String command, String[] common, String... more) {
    return Stream.of(Stream.of(command), Stream.of(common), Stream.of(more))
        .flatMap(arguments -> arguments)
        .toArray(String[]::new);
  }

  /** JVMs of the cluster in this test's folder. */
  private List<Long> processes() {
    String arguments = "@" + dir.resolve("cluster/run").toAbsolutePath();
    return ProcessHandle.allProcesses()
        .filter(p -> p.info().commandLine().filter(line -> line.contains(arguments)).isPresent())
        .map(ProcessHandle::pid)
        .toList();
  }
}
