package org.draftmill.job.cluster;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.cluster.LocalClusterScript.Result;

/**
 * A Flink cluster of separate processes, started by {@code flink-conf/local-cluster.sh}, that tests
 * hand jobs to by Flink's command line and whose processes they kill. Its folder stays when it is
 * closed, with everything the processes logged. The processes end with the test's JVM, however that
 * ends.
 */
public final class TestingCluster implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(10);
  private static final Pattern WEB_UI = Pattern.compile("web UI +(https?://\\S+)");
  private static final Pattern STARTED = Pattern.compile("(?m)^(\\w+-\\d+), process \\d+");
  private static final Pattern JOB = Pattern.compile("JobID ([0-9a-f]{32})");
  private static final Pattern SAVEPOINT = Pattern.compile("Path: (\\S+)");

  private final Path directory;
  private final LocalClusterScript script;
  private final ClusterRest rest;
  private final List<Process> clients = new ArrayList<>();

  private TestingCluster(Path directory, LocalClusterScript script, URI webUi) {
    this.directory = directory;
    this.script = script;
    this.rest = new ClusterRest(webUi);
  }

  /**
   * Starts a cluster and waits until it is up.
   *
   * @param name of its folder below {@code target/clusters}, which is emptied
   */
  public static TestingCluster start(String name, ClusterSpec spec) throws IOException {
    requireJobJar();
    Path directory = Path.of("target", "clusters", name).toAbsolutePath();
    LocalClusterScript script = new LocalClusterScript(directory, spec.environment());
    if (Files.exists(directory)) {
      script.run("stop");
      Folders.delete(directory);
    }
    List<String> arguments = new ArrayList<>(List.of("start"));
    arguments.addAll(spec.arguments());
    arguments.addAll(List.of("--while-pid", Long.toString(ProcessHandle.current().pid())));
    String said = script.run(arguments.toArray(String[]::new)).requireDone().output();
    return new TestingCluster(directory, script, URI.create(find(WEB_UI, said)));
  }

  /** The job as users hand it in. */
  public static Path jobJar() {
    return LocalClusterScript.HOME.resolve("job/target/draftmill-job.jar");
  }

  private static void requireJobJar() {
    if (!Files.exists(jobJar())) {
      throw new IllegalStateException(
          jobJar() + " is not there: build it with mvn -pl job -am package -DskipTests");
    }
  }

  /** Configuration, logs and process ids: see the script's {@code Layout}. */
  public Path directory() {
    return directory;
  }

  public Path logs() {
    return directory.resolve("log");
  }

  public ClusterRest rest() {
    return rest;
  }

  /** Names of the TaskManagers that live, {@code taskmanager-1} say; the latest one last. */
  public List<String> taskManagers() throws IOException {
    return living("taskmanager-");
  }

  /** Names of the JobManagers that live. */
  public List<String> jobManagers() throws IOException {
    return living("jobmanager-");
  }

  private List<String> living(String prefix) throws IOException {
    List<String> members = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory.resolve("run"))) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (name.startsWith(prefix) && name.endsWith(".pid")) {
          String member = name.substring(0, name.length() - ".pid".length());
          if (ProcessHandle.of(pid(member)).filter(ProcessHandle::isAlive).isPresent()) {
            members.add(member);
          }
        }
      }
    }
    return members;
  }

  /** The process of a member, whether it lives or not. */
  public long pid(String member) throws IOException {
    try {
      Path file = directory.resolve("run").resolve(member + ".pid");
      return Long.parseLong(Files.readString(file).strip());
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("no member of the cluster was called " + member, e);
    }
  }

  /** SIGKILL; returns when the process is gone. */
  public void kill(String member) throws IOException {
    ProcessHandle.of(pid(member))
        .ifPresent(
            process -> {
              process.destroyForcibly();
              await().atMost(PATIENCE).until(() -> !process.isAlive());
            });
  }

  /**
   * Starts one more TaskManager and waits until it is registered.
   *
   * @return its name
   */
  public String addTaskManager() throws IOException {
    return find(STARTED, script.run("add", "taskmanager").requireDone().output());
  }

  /**
   * Starts one more JobManager, and waits until it answers if it is the only one.
   *
   * @return its name
   */
  public String addJobManager() throws IOException {
    return find(STARTED, script.run("add", "jobmanager").requireDone().output());
  }

  /** Runs Flink's command line to its end. */
  public Result flink(String... arguments) throws IOException {
    return script.run(withFlink(arguments));
  }

  /**
   * Hands the job in and waits for its end, as {@code flink run} does.
   *
   * @param arguments of {@code TrainJob}: {@code --config} and {@code -D}
   */
  public Result run(String... arguments) throws IOException {
    return flink(
        Stream.concat(Stream.of("run", jobJar().toString()), Stream.of(arguments))
            .toArray(String[]::new));
  }

  /** Starts Flink's command line; its output goes to {@code client-N.out} in the logs. */
  public Process startFlink(String... arguments) throws IOException {
    Path output = logs().resolve("client-" + (clients.size() + 1) + ".out");
    Process process = script.start(output, withFlink(arguments));
    clients.add(process);
    return process;
  }

  private static String[] withFlink(String... arguments) {
    return Stream.concat(Stream.of("flink"), Stream.of(arguments)).toArray(String[]::new);
  }

  /**
   * Hands the job in and leaves it to the cluster: {@code flink run --detached}.
   *
   * @return its id
   */
  public String submit(String... arguments) throws IOException {
    return submitWith(List.of(), arguments);
  }

  /** Like {@link #submit}, going on from a savepoint: {@code flink run -s}. */
  public String resume(String savepoint, String... arguments) throws IOException {
    return submitWith(List.of("-s", savepoint), arguments);
  }

  /** Like {@link #submit}, with more options of {@code flink run}. */
  public String submitWith(List<String> options, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of("run", "--detached"));
    command.addAll(options);
    command.add(jobJar().toString());
    command.addAll(List.of(arguments));
    return find(JOB, flink(command.toArray(String[]::new)).requireDone().output());
  }

  /**
   * {@code flink stop}.
   *
   * @return where the savepoint lies
   */
  public String stopWithSavepoint(String job, Path savepoints) throws IOException {
    Result result = flink("stop", "--savepointPath", savepoints.toUri().toString(), job);
    return find(SAVEPOINT, result.requireDone().output());
  }

  /** {@code flink cancel}. */
  public void cancel(String job) throws IOException {
    flink("cancel", job).requireDone();
  }

  /**
   * Waits until a job is in that state, whoever handed it in.
   *
   * @return its id
   */
  public String awaitJob(String status, Duration patience) {
    return await()
        .atMost(patience)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () ->
                rest.jobs().entrySet().stream()
                    .filter(job -> job.getValue().equals(status))
                    .map(Map.Entry::getKey)
                    .findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  /** Waits until a job is in that state; one that ends in another fails at once. */
  public void awaitStatus(String job, String status, Duration patience) {
    await()
        .atMost(patience)
        .pollInterval(Duration.ofMillis(200))
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () -> {
              String now = rest.status(job);
              if (!now.equals(status) && List.of("FAILED", "FINISHED", "CANCELED").contains(now)) {
                throw new AssertionError(
                    "the job is " + now + ", not " + status + ": " + rest.exception(job));
              }
              return now.equals(status);
            });
  }

  /** Waits until that many checkpoints of a job are complete. */
  public void awaitCheckpoints(String job, long count, Duration patience) {
    await()
        .atMost(patience)
        .pollInterval(Duration.ofMillis(100))
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () -> {
              if (rest.status(job).equals("FAILED")) {
                throw new AssertionError(rest.exception(job));
              }
              return rest.completedCheckpoints(job) >= count;
            });
  }

  /** Slots that no job holds. */
  public int freeSlots() throws IOException {
    JsonNode overview = rest.get("/overview");
    return overview.path("slots-available").asInt();
  }

  private static String find(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.find()) {
      throw new AssertionError("no " + pattern + " in: " + text);
    }
    return matcher.group(1);
  }

  /** Ends all processes; the folder stays. */
  @Override
  public void close() throws IOException {
    for (Process client : clients) {
      client.descendants().forEach(ProcessHandle::destroyForcibly);
      client.destroyForcibly();
    }
    script.run("stop").requireDone();
    for (Process client : clients) {
      try {
        client.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
