package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.draftmill.operators.drafter.TestingDeliveries.marker;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One drafter, its computing thread real, without a cluster. */
@Timeout(600)
class DrafterOperatorTest {
  @TempDir Path directory;
  private TestingRun run;
  private DrafterOperatorFactory.TrainerHook hook = (trainer, rank, attempt) -> trainer;

  @BeforeEach
  void prepare() throws IOException {
    run = new TestingRun(directory, 8);
    run.options.set(DrafterOptions.ACCUMULATION, 2);
  }

  private Harness harness() throws Exception {
    return new Harness(new DrafterOperatorFactory(run.settings(), hook));
  }

  private Harness opened() throws Exception {
    Harness harness = harness();
    harness.setup();
    harness.open();
    return harness;
  }

  private Harness restored(OperatorSubtaskState state) throws Exception {
    Harness harness = harness();
    harness.setup();
    harness.initializeState(state);
    harness.open();
    return harness;
  }

  private static void microbatch(Harness harness, long step, long position) throws Exception {
    for (HiddenStateChunk chunk : TestingDeliveries.chunks(position)) {
      harness.processElement(Delivery.of(0, step, chunk), 0);
    }
  }

  private static OperatorSubtaskState checkpoint(Harness harness, long id) throws Exception {
    harness.prepareSnapshotPreBarrier(id);
    return harness.snapshot(id, 0);
  }

  private List<String> files(String below) throws IOException {
    Path folder = directory.resolve(below);
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> walk = Files.walk(folder)) {
      return walk.filter(Files::isRegularFile)
          .map(path -> folder.relativize(path).toString().replaceAll("\\.[0-9a-f]{8}\\.", ".*."))
          .sorted()
          .toList();
    }
  }

  /** Files may go while they are looked at. */
  private static ConditionFactory await() {
    return Awaitility.await()
        .atMost(5, TimeUnit.MINUTES)
        .ignoreExceptionsMatching(
            e -> e instanceof NoSuchFileException || e instanceof UncheckedIOException);
  }

  @Test
  void whatCameBeforeTheBarrierIsDoneAndItsRowIsOut() throws Exception {
    try (var harness = opened()) {
      microbatch(harness, 0, 1);
      microbatch(harness, 0, 0);
      harness.processElement(Delivery.of(0, marker(0, 0, 1, 0)), 0);
      microbatch(harness, 1, 2);
      harness.prepareSnapshotPreBarrier(1);
      assertThat(harness.extractOutputValues()).hasSize(1);
      var row = new ObjectMapper().readTree(harness.extractOutputValues().get(0));
      assertThat(row.get("step").asLong()).isZero();
      assertThat(row.get("jobs").toString()).isEqualTo("[1,0]");
      harness.snapshot(1, 0);
      assertThat(files("drafter"))
          .containsExactly("step-00000001/checkpoint-1.*.0-of-1.safetensors");
      assertThat(files("log")).containsExactly("live.csv");
    }
  }

  @Test
  void aCheckpointInTheMiddleOfAStepKeepsItsSumsAndMarkers() throws Exception {
    run.options.set(PoolOptions.SHARDS, 2);
    String calm;
    try (var harness = opened()) {
      microbatch(harness, 0, 0);
      microbatch(harness, 0, 1);
      harness.processElement(Delivery.of(0, marker(0, 0, 0)), 0);
      harness.processElement(Delivery.of(0, marker(0, 1, 1)), 0);
      harness.endInput();
      calm = harness.extractOutputValues().get(0);
    }
    OperatorSubtaskState state;
    try (var harness = opened()) {
      microbatch(harness, 0, 0);
      harness.processElement(Delivery.of(0, marker(0, 0, 0)), 0);
      state = checkpoint(harness, 1);
    }
    try (var harness = restored(state)) {
      microbatch(harness, 0, 1);
      harness.processElement(Delivery.of(0, marker(0, 1, 1)), 0);
      harness.endInput();
      String after = harness.extractOutputValues().get(0);
      assertThat(figures(after)).isEqualTo(figures(calm));
    }
  }

  private static String figures(String row) throws IOException {
    var json = new ObjectMapper().readTree(row);
    return json.get("loss") + " " + json.get("grad_norm") + " " + json.get("jobs");
  }

  @Test
  void skippedStepsAreCountedOverARestart() throws Exception {
    run.options.set(DrafterOptions.MAX_SKIPPED_STEPS, 1);
    hook = (trainer, rank, attempt) -> new PoisonedTrainer(trainer, Set.of(0L, 1L));
    OperatorSubtaskState state;
    try (var harness = opened()) {
      microbatch(harness, 0, 0);
      harness.processElement(Delivery.of(0, marker(0, 0, 0)), 0);
      state = checkpoint(harness, 1);
    }
    try (var harness = restored(state)) {
      microbatch(harness, 1, 1);
      harness.processElement(Delivery.of(0, marker(1, 0, 1)), 0);
      assertThatThrownBy(harness::endInput)
          .rootCause()
          .hasMessageContaining("2 steps, more than the 1 that drafter.max-skipped-steps");
    }
  }

  @Test
  void aCompletedCheckpointIsPublishedAndOldStatesGo() throws Exception {
    try (var harness = opened()) {
      for (long step = 0; step < 5; step++) {
        microbatch(harness, step, step);
        harness.processElement(Delivery.of(0, marker(step, 0, step)), 0);
        checkpoint(harness, step + 1);
        assertThat(directory.resolve("export/" + name(step + 1))).doesNotExist();
        harness.notifyOfCompletedCheckpoint(step + 1);
        Path export = directory.resolve("export/" + name(step + 1));
        await().until(() -> Files.isDirectory(export));
      }
      await().until(() -> files("drafter").size() == 3);
      assertThat(files("drafter").get(0)).startsWith("step-00000003/checkpoint-3.");
      assertThat(Files.readSymbolicLink(run.latest())).hasToString("step-00000005");
      assertThat(DrafterExport.read(run.latest()).weights()).isNotEmpty();
    }
  }

  private static String name(long step) {
    return "step-%08d".formatted(step);
  }

  @Test
  void theFinalWeightsAreExportedBeforeTheLastCheckpoint() throws Exception {
    try (var harness = opened()) {
      microbatch(harness, 0, 0);
      harness.processElement(Delivery.of(0, marker(0, 0, 0)), 0);
      harness.endInput();
      harness.getOneInputOperator().finish();
      assertThat(Files.readSymbolicLink(run.latest())).hasToString("step-00000001");
    }
  }

  @Test
  void anotherRunsCheckpointIsRefusedByName() throws Exception {
    OperatorSubtaskState state;
    try (var harness = opened()) {
      state = checkpoint(harness, 1);
    }
    run.options.set(DrafterOptions.ACCUMULATION, 3);
    assertThatThrownBy(() -> restored(state))
        .isInstanceOf(SuppressRestartsException.class)
        .cause()
        .isInstanceOf(InputException.class)
        .hasMessageContaining(
            "drafter.accumulation = 2, but this one has drafter.accumulation = 3");
  }

  @Test
  void aDamagedStateIsRefusedByName() throws Exception {
    OperatorSubtaskState state;
    try (var harness = opened()) {
      state = checkpoint(harness, 1);
    }
    try (Stream<Path> walk = Files.walk(directory.resolve("drafter"))) {
      Path file = walk.filter(Files::isRegularFile).findFirst().orElseThrow();
      byte[] bytes = Files.readAllBytes(file);
      bytes[bytes.length - 9] ^= 1;
      Files.write(file, bytes);
      assertThatThrownBy(() -> restored(state))
          .isInstanceOf(SuppressRestartsException.class)
          .cause()
          .isInstanceOf(InputException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("it is damaged");
    }
  }

  @Test
  void aDiskThatCannotBeWrittenFailsTheCheckpointAlone() throws Exception {
    try (var harness = opened()) {
      Files.writeString(directory.resolve("drafter"), "in the way");
      harness.prepareSnapshotPreBarrier(1);
      assertThatThrownBy(() -> harness.snapshot(1, 0)).hasStackTraceContaining("Could not write");
      Files.delete(directory.resolve("drafter"));
      microbatch(harness, 0, 0);
      checkpoint(harness, 2);
      assertThat(files("drafter")).hasSize(1);
    }
  }

  @Test
  void halfAMicrobatchAtABarrierIsAnError() throws Exception {
    try (var harness = opened()) {
      harness.processElement(Delivery.of(0, 0, TestingDeliveries.chunks(5).get(0)), 0);
      assertThatThrownBy(() -> harness.prepareSnapshotPreBarrier(1))
          .hasMessageContaining("chunks of [job 5 (epoch 0, index 5)] are missing");
    }
  }

  @Test
  void aFailureOfTheComputingThreadSurfaces() throws Exception {
    hook = (trainer, rank, attempt) -> new Failing(new CountDownLatch(0));
    try (var harness = opened()) {
      microbatch(harness, 0, 0);
      assertThatThrownBy(() -> harness.prepareSnapshotPreBarrier(1))
          .hasMessage("drafter 0 failed: out of device memory");
      assertThatThrownBy(() -> microbatch(harness, 0, 1))
          .hasMessage("drafter 0 failed: out of device memory");
    }
  }

  @Test
  void aComputingThreadThatHangsIsNoticed() throws Exception {
    run.options.set(DrafterOptions.TIMEOUT, java.time.Duration.ofMillis(200));
    CountDownLatch never = new CountDownLatch(1);
    hook = (trainer, rank, attempt) -> new Failing(never);
    try (var harness = opened()) {
      microbatch(harness, 0, 0);
      assertThatThrownBy(
              () -> {
                for (long time = 0; ; time += 50) {
                  Thread.sleep(10);
                  harness.setProcessingTime(time);
                }
              })
          .hasStackTraceContaining("drafter 0 has been at the microbatch of job 0")
          .hasStackTraceContaining("drafter.timeout");
    }
  }

  /** A harness whose close is no ceremony. */
  private static final class Harness extends OneInputStreamOperatorTestHarness<Delivery, String> {
    Harness(DrafterOperatorFactory factory) throws Exception {
      super(factory, 1, 1, 0);
    }

    @Override
    public void close() {
      try {
        super.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Waits, then fails. */
  private record Failing(CountDownLatch latch) implements Trainer {
    @Override
    public MicrobatchFigures accumulate(Microbatch microbatch) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      throw new IllegalStateException("out of device memory");
    }

    @Override
    public void tombstone() {}

    @Override
    public StepFigures step(Collective collective) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }
}
