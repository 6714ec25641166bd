package org.draftmill.operators.pool;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;
import org.draftmill.serializers.StepMarker;

/**
 * The stream as a set of actors of which a seeded scheduler lets one move at a time: targets that
 * pull jobs in list order and may block on a full channel, subtasks of the pool with the real
 * {@link Pool}, {@link DemandLine} and {@link DemandBoard}, messages that take their time and get
 * lost, drafters that reduce together, and checkpoint barriers that are aligned at every input.
 * Fails when nobody can move before the end, and when a promise of the stream is broken.
 */
final class StreamSimulation {

  /** What is simulated. {@code speeds} are the weights of the targets in the scheduler. */
  record Setup(
      PoolSettings settings,
      double[] speeds,
      double[] drafterSpeeds,
      int jobsInFlight,
      int channelCapacity,
      boolean checkpoints,
      LongPredicate tombstone) {}

  private static final long BARRIER = -1;
  private static final long CANCELLED = -2; // what an aborted barrier becomes
  private static final int PATIENCE = 100_000; // moves without anything but messages

  private final Setup setup;
  private final Random random;
  private final DemandBoard board = new DemandBoard();
  private final List<Action> actions = new ArrayList<>();
  private final List<Target> targets = new ArrayList<>();
  private final List<Subtask> subtasks = new ArrayList<>();
  private final List<Drafter> drafters = new ArrayList<>();
  private final List<Runnable> messages = new ArrayList<>();
  private final List<List<Long>> released = new ArrayList<>(); // positions by shard
  private final List<Integer> takenBy = new ArrayList<>();
  private final Map<Long, Long> stepAtCheckpoint = new HashMap<>();
  private long nextJob;
  private long checkpoint;
  private long aborted;
  private int passed; // subtasks and drafters that the barrier has passed
  private int maxReady;
  private int movesInVain;

  StreamSimulation(Setup setup, long seed) {
    this.setup = setup;
    this.random = new Random(seed);
    PoolSettings settings = setup.settings();
    board.expect(settings.parallelism());
    for (int shard = 0; shard < settings.shards(); shard++) {
      released.add(new ArrayList<>());
    }
    for (double speed : setup.speeds()) {
      targets.add(new Target(settings.parallelism()));
      Target target = targets.get(targets.size() - 1);
      add(speed, target::canPull, target::pull);
      add(speed, target::canCompute, target::compute);
      add(1, target::canEmit, target::emit);
      add(1, target::canSendBarrier, target::sendBarrier);
    }
    for (int d = 0; d < setup.drafterSpeeds().length; d++) {
      Drafter drafter = new Drafter(d, settings.parallelism());
      drafters.add(drafter);
    }
    for (int p = 0; p < settings.parallelism(); p++) {
      Subtask subtask = new Subtask(p);
      subtasks.add(subtask);
      for (int t = 0; t < targets.size(); t++) {
        int channel = t;
        add(1, () -> subtask.canRead(channel), () -> subtask.read(channel));
      }
      add(1, subtask::canEnd, subtask::end);
    }
    for (Drafter drafter : drafters) {
      for (int p = 0; p < settings.parallelism(); p++) {
        int channel = p;
        add(1, () -> drafter.canRead(channel), () -> drafter.read(channel));
      }
      add(setup.drafterSpeeds()[drafter.index], drafter::canStart, drafter::start);
      add(setup.drafterSpeeds()[drafter.index], drafter::canFinish, drafter::finish);
      add(1, drafter::canPassBarrier, drafter::passBarrier);
      addMessage(1, () -> !drafter.asks.isEmpty(), drafter::deliverAsk);
    }
    add(1, this::canReduce, this::reduce);
    addMessage(1, () -> !messages.isEmpty(), this::deliver);
    addMessage(0.02, () -> true, board::expire);
    if (setup.checkpoints()) {
      add(0.05, this::canTrigger, this::trigger);
      add(0.005, this::canAbort, this::abort);
    }
  }

  /** Runs to the end. */
  StreamSimulation run() {
    subtasks.forEach(Subtask::open);
    drafters.forEach(Drafter::ask);
    while (!isDone()) {
      move();
    }
    return this;
  }

  /** Positions in the order of release. */
  List<Long> released(int shard) {
    return released.get(shard);
  }

  /** Drafter of each microbatch in the order of release over all shards. */
  List<Integer> takenBy() {
    return takenBy;
  }

  int maxReady() {
    return maxReady;
  }

  int checkpoints() {
    return stepAtCheckpoint.size();
  }

  private boolean isDone() {
    return subtasks.stream().allMatch(subtask -> subtask.ended && subtask.line.isClosed())
        && drafters.stream().allMatch(drafter -> drafter.step == steps())
        && passed == 0;
  }

  private void move() {
    double total = 0;
    List<Action> enabled = new ArrayList<>();
    for (Action action : actions) {
      if (action.condition.holds()) {
        enabled.add(action);
        total += action.weight;
      }
    }
    double drawn = random.nextDouble() * total;
    for (Action action : enabled) {
      drawn -= action.weight;
      if (drawn < 0) {
        action.body.run();
        movesInVain = action.isMessage ? movesInVain + 1 : 0;
        break;
      }
    }
    if (movesInVain == PATIENCE) {
      throw new AssertionError("Nobody can move: " + describe());
    }
  }

  private String describe() {
    StringBuilder text = new StringBuilder();
    for (Subtask subtask : subtasks) {
      text.append("%nsubtask %d: %s".formatted(subtask.index, subtask.pool.gate()));
      for (PoolShard shard : subtask.pool.shards()) {
        text.append(
            " [shard %d step %d %s, %d ready, %d released]"
                .formatted(
                    shard.shard(),
                    shard.step(),
                    shard.waiting(),
                    shard.readyMicrobatches(),
                    shard.released()));
      }
    }
    for (Drafter drafter : drafters) {
      text.append(
          "%ndrafter %d: step %d, holds %s"
              .formatted(drafter.index, drafter.step, drafter.held.size()));
    }
    return text.toString();
  }

  private long steps() {
    return setup.settings().list(0).steps();
  }

  private void add(double weight, Condition condition, Runnable body) {
    actions.add(new Action(weight, condition, body, false));
  }

  private void addMessage(double weight, Condition condition, Runnable body) {
    actions.add(new Action(weight, condition, body, true));
  }

  private void deliver() {
    messages.remove(random.nextInt(messages.size())).run();
  }

  // ---- checkpoints

  private boolean canTrigger() {
    return passed == 0 && nextJob < setup.settings().run().jobs();
  }

  private void trigger() {
    checkpoint++;
    passed = -1;
    targets.forEach(target -> target.barrierDue = true);
  }

  private boolean canAbort() {
    return passed != 0 && aborted < checkpoint;
  }

  /** The subtasks of the pool learn it one after the other, the drafters never. */
  private void abort() {
    aborted = checkpoint;
    subtasks.forEach(subtask -> messages.add(() -> subtask.abort(aborted)));
  }

  private void pass() {
    passed = passed < 0 ? 1 : passed + 1;
    if (passed == subtasks.size() + drafters.size()) {
      passed = 0;
    }
  }

  // ---- reduction

  private boolean canReduce() {
    return drafters.stream().allMatch(Drafter::hasFinishedStep);
  }

  private void reduce() {
    drafters.forEach(drafter -> drafter.step++);
  }

  private record Action(double weight, Condition condition, Runnable body, boolean isMessage) {}

  private interface Condition {
    boolean holds();
  }

  /** Computes jobs in order and sends them, blocked while the channel of the next one is full. */
  private final class Target {
    private final Deque<Long> inFlight = new ArrayDeque<>();
    private final List<Deque<Long>> channels = new ArrayList<>(); // by subtask of the pool
    private int computed;
    private boolean emitting;
    private boolean barrierDue;

    Target(int subtasks) {
      for (int p = 0; p < subtasks; p++) {
        channels.add(new ArrayDeque<>());
      }
    }

    boolean canPull() {
      return inFlight.size() < setup.jobsInFlight()
          && nextJob < setup.settings().run().jobs()
          && !emitting;
    }

    void pull() {
      inFlight.add(nextJob++);
    }

    boolean canCompute() {
      return computed < inFlight.size();
    }

    void compute() {
      computed++;
    }

    boolean canEmit() {
      return computed > 0 && (!emitting || hasRoom());
    }

    void emit() {
      emitting = true; // from now on the thread is in collect()
      if (hasRoom()) {
        channels.get(subtaskOf(inFlight.peek())).add(inFlight.poll());
        computed--;
        emitting = false;
      }
    }

    private boolean hasRoom() {
      return channels.get(subtaskOf(inFlight.peek())).size() < setup.channelCapacity();
    }

    boolean canSendBarrier() {
      return barrierDue && !emitting;
    }

    void sendBarrier() {
      channels.forEach(channel -> channel.add(BARRIER));
      barrierDue = false;
    }

    boolean isDone() {
      return inFlight.isEmpty()
          && nextJob == setup.settings().run().jobs()
          && !barrierDue
          && channels.stream().allMatch(Deque::isEmpty);
    }
  }

  private int subtaskOf(long position) {
    return (int) (position % setup.settings().shards() % setup.settings().parallelism());
  }

  private final class Subtask implements Pool.Outlet {
    private final int index;
    private final Pool pool;
    private final DemandLine line;
    private final boolean[] blocked = new boolean[targets.size()];
    private long knownAborted;
    private boolean ended;

    Subtask(int index) {
      this.index = index;
      PoolSettings settings = setup.settings();
      List<PoolShard> shards = new ArrayList<>();
      for (int shard = index; shard < settings.shards(); shard += settings.parallelism()) {
        shards.add(new PoolShard(shard, settings));
      }
      boolean alone = settings.parallelism() == 1;
      pool = new Pool(shards, alone, this);
      line = new DemandLine(index, 0, 0, alone, pool, this::send);
    }

    void open() {
      pool.know(Gate.CLOSED);
      line.update();
    }

    private void send(Poll poll) {
      if (random.nextInt(20) == 0) {
        messages.add(() -> line.lost(poll)); // the request was lost
        return;
      }
      messages.add(
          () -> {
            CompletableFuture<Answer> answer = board.poll(poll);
            boolean lost = random.nextInt(20) == 0;
            answer.thenAccept(a -> messages.add(() -> receive(poll, lost ? null : a)));
          });
    }

    private void receive(Poll poll, Answer answer) {
      if (answer == null) {
        line.lost(poll);
      } else {
        line.answered(poll, answer);
      }
    }

    boolean canRead(int target) {
      return !blocked[target]
          && !targets.get(target).channels.get(index).isEmpty()
          && !pool.mayHoldBackInput();
    }

    void read(int target) {
      long position = targets.get(target).channels.get(index).poll();
      if (position == BARRIER) {
        blocked[target] = true;
        if (all(blocked)) {
          Arrays.fill(blocked, false);
          pool.shards().forEach(PoolShard::state);
          sendBarrier();
          pass();
        }
        return;
      }
      var chunks =
          setup.tombstone().test(position)
              ? TestingChunks.tombstone(position)
              : TestingChunks.of(position);
      chunks.forEach(chunk -> pool.add((int) (position % setup.settings().shards()), chunk));
      maxReady =
          Math.max(
              maxReady,
              pool.shards().stream().mapToInt(PoolShard::readyMicrobatches).max().orElse(0));
      line.update();
    }

    private void sendBarrier() {
      if (knownAborted == StreamSimulation.this.checkpoint) {
        drafters.forEach(drafter -> drafter.channels.get(index).add(CANCELLED));
      } else {
        drafters.forEach(drafter -> drafter.channels.get(index).add(BARRIER));
        line.barrier(StreamSimulation.this.checkpoint);
      }
    }

    void abort(long checkpoint) {
      knownAborted = checkpoint;
      line.abort(checkpoint);
    }

    boolean canEnd() {
      return !ended && targets.stream().allMatch(Target::isDone);
    }

    void end() {
      ended = true;
      pool.checkComplete();
    }

    @Override
    public void held(int shard, HeldMicrobatch microbatch) {}

    @Override
    public void send(int drafter, long step, HeldMicrobatch microbatch) {
      takenBy.add(drafter);
      drafters.get(drafter).channels.get(index).add(new Sent(step, microbatch.job().position()));
    }

    @Override
    public void send(StepMarker marker) {
      drafters.forEach(drafter -> drafter.channels.get(index).add(marker));
    }

    @Override
    public void released(int shard, HeldMicrobatch microbatch) {
      released.get(shard).add(microbatch.job().position());
    }
  }

  private record Sent(long step, long position) {}

  private final class Drafter {
    private final int index;
    private final List<Deque<Object>> channels = new ArrayList<>(); // by subtask of the pool
    private final boolean[] blocked;
    private final Deque<Sent> held = new ArrayDeque<>();
    private final Map<Long, Integer> markers = new HashMap<>(); // by step
    private final Deque<Long> asks = new ArrayDeque<>(); // under way; events keep their order
    private boolean working;
    private boolean cancelled;
    private int barriers; // of the checkpoint at hand, cancelled ones too
    private long step;
    private long asked;

    Drafter(int index, int subtasks) {
      this.index = index;
      this.blocked = new boolean[subtasks];
      for (int p = 0; p < subtasks; p++) {
        channels.add(new ArrayDeque<>());
      }
    }

    void ask() {
      asks.add(++asked);
      if (random.nextInt(10) == 0) {
        asks.add(asked);
      }
    }

    void deliverAsk() {
      board.ask(index, 0, asks.poll());
    }

    boolean canRead(int subtask) {
      return !all(blocked) && !blocked[subtask] && !channels.get(subtask).isEmpty();
    }

    void read(int subtask) {
      Object record = channels.get(subtask).poll();
      if (record.equals(BARRIER) || record.equals(CANCELLED)) {
        takeBarrier(subtask, record.equals(CANCELLED));
      } else if (record instanceof StepMarker marker) {
        markers.merge(marker.step(), 1, Integer::sum);
      } else {
        held.add((Sent) record);
      }
    }

    /** A cancelled barrier ends the alignment; those that still come on other channels are idle. */
    private void takeBarrier(int subtask, boolean isCancelled) {
      barriers++;
      cancelled |= isCancelled;
      blocked[subtask] = true;
      if (cancelled) {
        Arrays.fill(blocked, false);
      }
      if (cancelled && barriers == blocked.length) {
        endBarrier();
      }
    }

    private void endBarrier() {
      barriers = 0;
      cancelled = false;
      Arrays.fill(blocked, false);
      pass();
    }

    boolean canStart() {
      return !working && !held.isEmpty() && held.peek().step() == step;
    }

    void start() {
      working = true;
      ask();
    }

    boolean canFinish() {
      return working;
    }

    void finish() {
      working = false;
      held.remove();
    }

    boolean hasFinishedStep() {
      return step < steps()
          && markers.getOrDefault(step, 0) == setup.settings().shards()
          && held.stream().noneMatch(sent -> sent.step() == step);
    }

    /** Before the barrier it finishes the microbatches it has and the step whose markers it has. */
    boolean canPassBarrier() {
      return all(blocked)
          && (held.isEmpty() || held.peek().step() != step)
          && markers.getOrDefault(step, 0) < setup.settings().shards();
    }

    void passBarrier() {
      if (!held.isEmpty()) {
        throw new AssertionError(
            "At a barrier drafter %d of step %d holds %s".formatted(index, step, held));
      }
      Long others = stepAtCheckpoint.putIfAbsent(checkpoint, step);
      if (others != null && others != step) {
        throw new AssertionError(
            "At checkpoint %d drafters stand at the steps %d and %d"
                .formatted(checkpoint, others, step));
      }
      endBarrier();
    }
  }

  private static boolean all(boolean[] flags) {
    for (boolean flag : flags) {
      if (!flag) {
        return false;
      }
    }
    return true;
  }
}
