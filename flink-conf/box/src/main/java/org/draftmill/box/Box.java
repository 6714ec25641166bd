package org.draftmill.box;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;

/** A cluster on this machine: a JobManager, TaskManagers and perhaps a ZooKeeper. */
final class Box {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration GRACE = Duration.ofSeconds(15);
  private static final Duration SHORT_GRACE = Duration.ofSeconds(2);

  private final Layout layout;
  private final PrintStream out;

  /** What was started stays. */
  private volatile boolean up;

  Box(Layout layout, PrintStream out) {
    this.layout = layout;
    this.out = out;
  }

  /** Starts everything and waits until it is up; what was started ends if it is not in time. */
  void start(StartSettings settings) throws IOException, InterruptedException {
    requireNothingRuns();
    if (settings.taskManagers() < 1) {
      throw BoxException.unusable(
          "--task-managers %d must be at least 1.", settings.taskManagers());
    }
    prepareFolders();
    Configuration flink = BoxConfig.write(layout, settings);
    copyLogging(settings.config().toAbsolutePath().getParent());
    FlinkEnvironment.write(layout, settings.home());
    JavaArguments.ofClient(layout, flink, settings.home())
        .write(layout.conf().resolve("client.args"));
    Runtime.getRuntime().addShutdownHook(new Thread(this::stopUnlessUp));
    long deadline = System.nanoTime() + settings.patience().toNanos();
    settings.parent().ifPresent(this::watch);
    if (settings.highAvailability()) {
      Member zooKeeper = startZooKeeper(flink, settings.home());
      await(() -> ZooKeeper.answers(flink), List.of(zooKeeper), deadline, "ZooKeeper answers");
    }
    List<Member> members = new ArrayList<>();
    members.add(startMember(Role.JOBMANAGER, flink, settings.home()));
    for (int i = 0; i < settings.taskManagers(); i++) {
      members.add(startMember(Role.TASKMANAGER, flink, settings.home()));
    }
    awaitTaskManagers(flink, members, deadline);
    up = true;
    describe(flink);
  }

  private void stopUnlessUp() {
    if (!up) {
      try {
        stopAll(SHORT_GRACE);
      } catch (IOException | InterruptedException e) {
        System.err.println("error: not everything could be stopped: " + e.getMessage());
      }
    }
  }

  /** Starts one more process of the running box, in the place of one that died, say. */
  void add(Role role, FlinkHome home, Duration patience) throws IOException, InterruptedException {
    requireRunning();
    Configuration flink = BoxConfig.of(layout);
    boolean standby = role == Role.JOBMANAGER && !alive(Role.JOBMANAGER).isEmpty();
    if (standby && !ZooKeeper.isConfigured(flink)) {
      throw BoxException.unusable(
          "A JobManager runs, and a second one needs high availability: start with --ha.");
    }
    Member member = startMember(role, flink, home);
    long deadline = System.nanoTime() + patience.toNanos();
    try {
      if (role == Role.TASKMANAGER) {
        awaitTaskManagers(flink, List.of(member), deadline);
      } else if (!standby) {
        try (RestApi rest = new RestApi(flink)) {
          await(
              () -> rest.overview().isPresent(),
              List.of(member),
              deadline,
              "the JobManager answers");
        }
      }
    } catch (BoxException e) {
      member.stop(SHORT_GRACE);
      throw e;
    }
    out.println(member.name() + ", process " + member.pid().orElseThrow());
  }

  /** Ends everything. */
  void stop() throws IOException, InterruptedException {
    List<String> members = layout.members();
    if (members.isEmpty()) {
      throw notRunning();
    }
    stopAll(GRACE);
    out.println("stopped " + String.join(", ", members));
  }

  private void stopAll(Duration grace) throws IOException, InterruptedException {
    // ZooKeeper last: the others take leave of it.
    for (Role role : List.of(Role.JOBMANAGER, Role.TASKMANAGER, Role.ZOOKEEPER)) {
      List<Member> members = members().stream().filter(member -> role.isOf(member.name())).toList();
      for (Member member : members) {
        member.process().ifPresent(ProcessHandle::destroy);
      }
      for (Member member : members) {
        member.stop(grace);
      }
    }
    delete(layout.tmp());
  }

  /** Says what runs. */
  void status() throws IOException, InterruptedException {
    requireRunning();
    describe(BoxConfig.of(layout));
    List<String> dead = new ArrayList<>(layout.members());
    alive().forEach(member -> dead.remove(member.name()));
    if (!dead.isEmpty()) {
      out.println("dead         " + String.join(", ", dead) + "; see their files in the logs");
    }
  }

  private void describe(Configuration flink) throws IOException, InterruptedException {
    for (Role role : Role.values()) {
      List<String> pids = new ArrayList<>();
      for (Member member : alive(role)) {
        pids.add(member.pid().orElseThrow().toString());
      }
      if (!pids.isEmpty()) {
        out.printf(
            "%-12s %s %s%n",
            role.title(), pids.size() == 1 ? "process" : "processes", String.join(", ", pids));
      }
    }
    try (RestApi rest = new RestApi(flink)) {
      Optional<RestApi.Overview> overview = rest.overview();
      if (overview.isPresent()) {
        out.printf(
            "slots        %d, %d of them free%n",
            overview.get().slots(), overview.get().slotsFree());
        out.printf("jobs         %d running%n", overview.get().jobsRunning());
      }
      out.println("web UI       " + rest.root() + (overview.isEmpty() ? " (does not answer)" : ""));
    }
    out.println("logs         " + layout.log());
  }

  private void requireNothingRuns() throws IOException {
    if (!alive().isEmpty()) {
      throw BoxException.failed(
          "A cluster runs here already, in %s: stop it first, or give another --dir.",
          layout.root());
    }
  }

  /**
   * @throws BoxException if no process lives
   */
  private void requireRunning() throws IOException {
    if (alive().isEmpty()) {
      throw notRunning();
    }
  }

  private BoxException notRunning() {
    return BoxException.failed(
        "No cluster runs in %s: start one with flink-conf/local-cluster.sh start.", layout.root());
  }

  private List<Member> members() {
    return layout.members().stream().map(name -> new Member(layout, name)).toList();
  }

  private List<Member> alive() throws IOException {
    List<Member> alive = new ArrayList<>();
    for (Member member : members()) {
      if (member.isAlive()) {
        alive.add(member);
      }
    }
    return alive;
  }

  private List<Member> alive(Role role) throws IOException {
    return alive().stream().filter(member -> role.isOf(member.name())).toList();
  }

  /** Logs of the last cluster are kept aside, nothing else of it. */
  private void prepareFolders() throws IOException {
    if (!layout.isVacant()) {
      throw BoxException.unusable(
          "%s holds something else than a cluster: give --dir a folder that is empty or not there yet.",
          layout.root());
    }
    layout.claim();
    if (Files.exists(layout.log())) {
      Path previous = layout.root().resolve("log-previous");
      delete(previous);
      Files.move(layout.log(), previous);
    }
    for (Path folder : List.of(layout.conf(), layout.run(), layout.tmp(), layout.ha())) {
      delete(folder);
      Files.createDirectories(folder);
    }
    Files.createDirectories(layout.log());
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  /** Those beside the configuration, else the box's own. */
  private void copyLogging(Path configFolder) throws IOException {
    for (String name : List.of("log4j.properties", "log4j-cli.properties")) {
      Path target = layout.conf().resolve(name);
      Path given = configFolder.resolve(name);
      if (Files.exists(given)) {
        Files.copy(given, target, StandardCopyOption.REPLACE_EXISTING);
        continue;
      }
      try (InputStream in = Box.class.getResourceAsStream(name)) {
        Files.copy(in, target, StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private Member startZooKeeper(Configuration flink, FlinkHome home) throws IOException {
    Files.createDirectories(layout.ha().resolve("zookeeper"));
    Files.writeString(layout.ha().resolve("zookeeper").resolve("myid"), "1");
    return startMember(Role.ZOOKEEPER, flink, home);
  }

  private Member startMember(Role role, Configuration flink, FlinkHome home) throws IOException {
    String name = role.member(layout.nextNumber(role));
    return Member.start(layout, home, name, arguments(role, flink, home, name));
  }

  private JavaArguments arguments(Role role, Configuration flink, FlinkHome home, String name)
      throws IOException {
    try {
      return switch (role) {
        case ZOOKEEPER -> JavaArguments.ofZooKeeper(layout, flink, home, name);
        case JOBMANAGER ->
            JavaArguments.ofJobManager(
                layout, flink, home, name, !alive(Role.JOBMANAGER).isEmpty());
        case TASKMANAGER -> JavaArguments.ofTaskManager(layout, flink, home, name);
      };
    } catch (IllegalConfigurationException | IllegalArgumentException e) {
      throw BoxException.unusable(
          "The memory of the %s cannot be divided: %s", role.title(), e.getMessage());
    }
  }

  private void awaitTaskManagers(Configuration flink, List<Member> members, long deadline)
      throws IOException, InterruptedException {
    List<String> names = members.stream().map(Member::name).filter(Role.TASKMANAGER::isOf).toList();
    try (RestApi rest = new RestApi(flink)) {
      await(
          () -> rest.taskManagers().containsAll(names),
          members,
          deadline,
          names.size() == 1 ? "the TaskManager is registered" : "all TaskManagers are registered");
    }
  }

  /** Something that comes to be. */
  private interface Condition {
    boolean holds() throws InterruptedException;
  }

  private void await(Condition condition, List<Member> members, long deadline, String what)
      throws IOException, InterruptedException {
    while (!condition.holds()) {
      for (Member member : members) {
        if (!member.isAlive()) {
          throw BoxException.failed(
              "%s ended at its start. The last it said:%n%s", member.name(), member.lastWords());
        }
      }
      if (System.nanoTime() > deadline) {
        throw BoxException.failed(
            "The time is up before %s: see the logs in %s, or give it more with --timeout.",
            what, layout.log());
      }
      Thread.sleep(POLL.toMillis());
    }
  }

  /** Kills everything once {@code parent} is gone, however that ended. */
  private void watch(long parent) {
    String script =
        "while kill -0 "
            + parent
            + " 2>/dev/null && [ -d \"$0\" ]; do sleep 1; done;"
            + " for file in \"$0\"/*.pid; do kill -9 \"$(cat \"$file\")\"; done";
    try {
      new ProcessBuilder("nohup", "sh", "-c", script, layout.run().toString())
          .redirectInput(Path.of("/dev/null").toFile())
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      throw BoxException.failed("The watch over process %d cannot start: %s.", parent, e);
    }
  }
}
