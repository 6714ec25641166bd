package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.draftmill.compute.cuda.CudaEmulator;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingModels;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.draftmill.operators.drafter.state.StateFiles;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The whole job on emulated GPUs: two targets and two drafters lease one each, four in all, and
 * train three steps of a drafter with two layers of width 64.
 */
@ExtendWith(CudaEmulator.class)
@Tag(CudaEmulator.TAG)
@Timeout(3600)
class TrainingOnCudaITCase {
  private static final int GPUS = 4;
  private static final int STEPS = 3;

  /** Products round their operands to bf16. */
  private static final double NEAR = 0x1p-6;

  @TempDir static Path dir;

  private static TestingRuns runs;
  private static TestingRuns.Result calm;
  private static long launches;
  private static long exchanged;

  /** The run that nothing happens to. */
  @BeforeAll
  static void train() throws IOException {
    runs = TestingRuns.in(dir, 24, true);
    Folders.delete(dir.resolve("target"));
    TestingModels.wide(dir.resolve("target"));
    CudaEmulator.setDevices(GPUS);
    long before = CudaEmulator.launches();
    long copied = CudaEmulator.copiesBetweenDevices(true);
    calm = train("calm", "cuda", "run.products=own");
    launches = CudaEmulator.launches() - before;
    exchanged = CudaEmulator.copiesBetweenDevices(true) - copied;
  }

  @BeforeEach
  void prepare() {
    CudaEmulator.setDevices(GPUS);
  }

  private static TestingRuns.Result train(String name, String device, String... more) {
    String[] common = {
      "run.dir=" + run(name),
      "run.max-steps=" + STEPS,
      "target.device=" + device,
      "drafter.device=" + device,
      "drafter.layers=2",
      "flink.external-resources=gpu",
      "flink.external-resource.gpu.amount=" + GPUS
    };
    return runs.train(
        Stream.concat(Arrays.stream(common), Arrays.stream(more)).toArray(String[]::new));
  }

  private static Path run(String name) {
    return dir.resolve(name);
  }

  @Test
  void trainsAsOnTheHost() throws Exception {
    requireDone(calm);
    assertThat(launches).as("kernels launched").isPositive();
    requireNothingHeld();
    List<TrainingLog.Row> steps = steps("calm");
    assertThat(steps).hasSize(STEPS).allSatisfy(step -> assertThat(step.skipped()).isFalse());
    String drafter = run("calm").resolve("export/latest").toString();
    requireDone(TestingRuns.draftmill("inspect", drafter));

    requireDone(train("host", "cpu"));
    List<TrainingLog.Row> expected = steps("host");
    for (int step = 0; step < STEPS; step++) {
      assertThat(steps.get(step).jobs())
          .containsExactlyInAnyOrderElementsOf(expected.get(step).jobs());
      double loss = expected.get(step).loss();
      assertThat(steps.get(step).loss()).isCloseTo(loss, within(NEAR * loss));
    }
  }

  @Test
  void twoDraftersExchangeFromGpuToGpuAndGiveTheWeightsOfOne() throws Exception {
    assertThat(exchanged).as("copies from one GPU to another").isPositive();

    requireDone(train("alone", "cuda", "run.products=own", "drafter.parallelism=1"));

    assertThat(TestingRuns.weights(run("alone"))).isEqualTo(TestingRuns.weights(run("calm")));
  }

  @Test
  void goesOnAfterADrafterDiedAndEndsWithTheSameWeights() throws Exception {
    // A run does not wait for its killer, who may be the one that is not given a processor.
    for (int tries = 1; !isHit(); tries++) {
      assertThat(tries).as("runs that ended before a drafter died").isLessThan(10);
      Folders.delete(run("disturbed"));
    }
    assertThat(steps("disturbed"))
        .extracting(TrainingLog.Row::loss)
        .containsExactlyElementsOf(steps("calm").stream().map(TrainingLog.Row::loss).toList());
    assertThat(TestingRuns.weights(run("disturbed"))).isEqualTo(TestingRuns.weights(run("calm")));
  }

  /** Whether a drafter died after a checkpoint; the run is over then in any case. */
  private static boolean isHit() throws Exception {
    CompletableFuture<TestingRuns.Result> disturbed =
        CompletableFuture.supplyAsync(
            () ->
                train(
                    "disturbed",
                    "cuda",
                    "run.products=own",
                    "checkpoint.interval=50ms",
                    "run.restart-delay=20ms"));
    await().until(() -> disturbed.isDone() || mayDie(run("disturbed")));
    Optional<Thread> victim = drafters().findAny();
    victim.ifPresent(Thread::interrupt);
    await().until(() -> disturbed.isDone() || drafters().anyMatch(next -> isNext(victim, next)));
    boolean hit = !disturbed.isDone();
    requireDone(disturbed.get());
    requireNothingHeld();
    return hit;
  }

  /**
   * Whether a checkpoint has completed that holds a step. A list this short may be on its way to
   * the drafters when the first checkpoint begins, and each later one ends behind it: before the
   * last step the first one will do.
   */
  private static boolean mayDie(Path run) throws IOException {
    return hasPublished(run, 1) || hasPublished(run, 0) && liveSteps(run) == STEPS - 1;
  }

  private static long liveSteps(Path run) throws IOException {
    Path live = run.resolve("log/live.csv");
    return Files.exists(live) ? Files.readAllLines(live).size() - 1 : 0;
  }

  /** The emulator's cuBLAS sums a row in an order that depends on how many there are. */
  @Test
  void byCublasTooTwoDraftersGiveTheWeightsOfOne() throws Exception {
    requireDone(train("library", "cuda")); // which is here, so auto takes it
    requireNothingHeld();
    assertThat(run("library").resolve("run.yaml")).content().contains("products: cublas");
    assertThat(TestingRuns.weights(run("library"))).isNotEqualTo(TestingRuns.weights(run("calm")));

    requireDone(train("library-alone", "cuda", "run.products=cublas", "drafter.parallelism=1"));

    assertThat(TestingRuns.weights(run("library-alone")))
        .isEqualTo(TestingRuns.weights(run("library")));
  }

  private static ConditionFactory await() {
    return Awaitility.await().pollInterval(Duration.ofMillis(5)).atMost(Duration.ofMinutes(20));
  }

  /** Whether a checkpoint has completed after step {@code first} or a later one. */
  private static boolean hasPublished(Path run, int first) {
    return LongStream.rangeClosed(first, STEPS)
        .mapToObj(step -> run.resolve("export").resolve(StateFiles.stepName(step)))
        .anyMatch(Files::exists);
  }

  private static Stream<Thread> drafters() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().matches("draftmill drafter \\d+"));
  }

  private static boolean isNext(Optional<Thread> victim, Thread thread) {
    return victim.isPresent()
        && thread != victim.get()
        && thread.getName().equals(victim.get().getName());
  }

  private static void requireDone(TestingRuns.Result result) {
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
  }

  /** Each step once, and no job twice. */
  private static List<TrainingLog.Row> steps(String name) throws IOException {
    List<TrainingLog.Row> steps = TrainingLog.read(run(name).resolve("log"));
    assertThat(steps)
        .extracting(TrainingLog.Row::step)
        .containsExactlyElementsOf(LongStream.range(0, STEPS).boxed().toList());
    assertThat(steps.stream().flatMap(step -> step.jobs().stream())).doesNotHaveDuplicates();
    assertThat(steps).allSatisfy(step -> assertThat(step.loss()).isFinite());
    return steps;
  }

  private static void requireNothingHeld() {
    for (CudaEmulator.Kind kind : CudaEmulator.Kind.values()) {
      assertThat(CudaEmulator.live(kind)).as("%s of the GPUs still held", kind).isZero();
    }
    assertThat(System.getProperties().stringPropertyNames())
        .noneMatch(name -> name.matches("draftmill\\.gpu\\.\\d+\\.holder"));
  }
}
