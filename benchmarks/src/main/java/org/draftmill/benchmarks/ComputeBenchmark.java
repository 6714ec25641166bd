package org.draftmill.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.Backends;
import org.draftmill.compute.DType;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterSettings;
import org.draftmill.compute.drafter.DrafterTrainer;
import org.draftmill.compute.drafter.HiddenRows;
import org.draftmill.compute.drafter.Initializer;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.OptimizerSettings;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Forward;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.compute.target.TargetSession;

/**
 * How fast the processor backend is: matrix products against the machine's peak, and the demo's
 * target and drafter on batches of 2,048 tokens. Run from the root of the checkout.
 */
public final class ComputeBenchmark {
  private static final int DOCUMENTS = 8;
  private static final int LENGTH = 256;
  private static final int ROWS = DOCUMENTS * LENGTH;
  private static final int ANCHORS = 48;
  private static final int BLOCK = 8;
  private static final int MASK_TOKEN = 2047;
  private static final Taps TAPS = Taps.of(1, 3, 5);

  private final Results results;
  private final Stopwatch stopwatch;
  private final Random random = new Random(1);

  private ComputeBenchmark(Results results, Stopwatch stopwatch) {
    this.results = results;
    this.stopwatch = stopwatch;
  }

  /** {@code [--smoke]}: a tenth of a second for each figure, only to see that it runs. */
  public static void main(String[] args) throws Exception {
    Results results = new Results("compute", args);
    Stopwatch stopwatch = new Stopwatch(results.isSmoke() ? 0.1 : 3);
    ComputeBenchmark benchmark = new ComputeBenchmark(results, stopwatch);
    int threads = Runtime.getRuntime().availableProcessors();
    benchmark.products();
    benchmark.models(1);
    if (threads > 1) {
      benchmark.models(threads);
    }
    results.atLeast("product_2048x704x256_share_of_peak", 0.75);
    results.atLeast("target_tokens_per_second_%d_threads".formatted(threads), 14_400);
    results.atLeast("drafter_tokens_per_second_%d_threads".formatted(threads), 9_000);
    results.write();
  }

  /** {@code x·wᵀ}, one thread; sizes as rows x outputs x inputs. */
  private void products() throws Exception {
    double peak = results.figure("peak_gflops_1_thread", ProcessorPeak.gigaflops(stopwatch));
    int[][] sizes = {{2048, 704, 256}, {2048, 256, 704}, {3072, 2048, 256}, {1024, 1024, 1024}};
    for (int[] size : sizes) {
      String name = "product_%dx%dx%d".formatted(size[0], size[1], size[2]);
      try (Backend backend = Backends.open("cpu", 1);
          Workspace memory = backend.workspace()) {
        Matrix x = random(memory, size[0], size[2]);
        Weight w = memory.arrange(random(memory, size[1], size[2]));
        Matrix out = memory.matrix(size[0], size[1]);
        Matrix dW = memory.zeros(size[1], size[2]);
        Ops ops = backend.ops();
        double work = 2e-9 * size[0] * size[1] * size[2];
        double gflops = work / stopwatch.best(() -> ops.linear(x, w, out));
        results.figure(name + "_gflops", gflops);
        results.figure(name + "_share_of_peak", gflops / peak);
        gflops = work / stopwatch.best(() -> ops.linearBackwardInput(out, w, x, false));
        results.figure(name + "_backward_input_gflops", gflops);
        gflops = work / stopwatch.best(() -> ops.linearBackwardWeight(out, x, dW));
        results.figure(name + "_backward_weight_gflops", gflops);
      }
    }
  }

  private Matrix random(Workspace memory, int rows, int columns) {
    float[] values = new float[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian() * 0.05f;
    }
    return memory.matrix(rows, columns, values);
  }

  private void models(int threads) throws Exception {
    String suffix = "_%d_threads".formatted(threads);
    try (Backend backend = Backends.open("cpu", threads);
        TargetModel target = TargetModel.load(Path.of("demo", "target"), backend)) {
      int[] ids = random.ints(ROWS, 0, MASK_TOKEN - 3).toArray();
      int[] starts = new int[DOCUMENTS + 1];
      Arrays.setAll(starts, i -> i * LENGTH);
      double seconds = stopwatch.best(() -> target.forward(ids, starts, TAPS, false).close());
      results.figure("target_tokens_per_second" + suffix, ROWS / seconds);
      try (TargetSession session = target.open(null, LENGTH)) {
        session.prefill(Arrays.copyOf(ids, LENGTH / 2));
        seconds =
            stopwatch.best(
                () -> {
                  session.decode(ids[0]);
                  session.truncate(LENGTH / 2);
                });
        results.figure("decode_tokens_per_second" + suffix, 1 / seconds);
      }
      ByteBuffer taps = encodedTaps(target, ids, starts);
      drafter(target, backend, microbatch(ids, starts, taps), suffix);
    }
  }

  private static ByteBuffer encodedTaps(TargetModel target, int[] ids, int[] starts)
      throws InterruptedException {
    try (Forward forward = target.forward(ids, starts, TAPS, false)) {
      ByteBuffer taps =
          ByteBuffer.allocate(ROWS * forward.tapColumns() * DType.BF16.bytes())
              .order(ByteOrder.LITTLE_ENDIAN);
      forward.encodeTaps(0, ROWS, DType.BF16, taps);
      return taps.flip();
    }
  }

  private static Microbatch microbatch(int[] ids, int[] starts, ByteBuffer taps) {
    long[] sequences = new long[DOCUMENTS];
    Arrays.setAll(sequences, i -> i);
    byte[] supervised = new byte[ROWS];
    Arrays.fill(supervised, (byte) 1);
    HiddenRows hidden = new HiddenRows(0, ROWS, taps, null, DType.BF16);
    return new Microbatch(0, sequences, starts, ids, supervised, List.of(hidden));
  }

  /** Forward, backward and a step on every microbatch: more steps than a run has. */
  private void drafter(TargetModel target, Backend backend, Microbatch microbatch, String suffix)
      throws Exception {
    DrafterConfig config =
        DrafterConfig.of(target.config(), DrafterConfig.Choices.full(TAPS, 1, BLOCK, MASK_TOKEN));
    DrafterSettings settings =
        new DrafterSettings(
            42, 1_000_000, ANCHORS, DrafterSettings.hardLabels(BLOCK), OptimizerSettings.DEFAULTS);
    float[] weights = new Initializer(42).weights(config, new ParameterLayout(config));
    try (DrafterTrainer trainer =
            new DrafterTrainer(backend, target.head(), config, settings, weights, 0, 1);
        Collective alone = Collective.alone()) {
      double seconds =
          stopwatch.best(
              () -> {
                trainer.accumulate(microbatch);
                trainer.step(alone);
              });
      results.figure("drafter_tokens_per_second" + suffix, ROWS / seconds);
      double sums = exactSums(backend, weights.length);
      results.figure("exact_sums_percent_of_step" + suffix, 100 * sums / seconds);
    }
  }

  /** Seconds that it takes to add a gradient to exact sums. */
  private double exactSums(Backend backend, int parameters) throws Exception {
    try (Workspace memory = backend.workspace();
        ExactSums sums = backend.exactSums(parameters)) {
      Matrix gradient = random(memory, 1, parameters);
      return stopwatch.best(() -> sums.add(gradient, 0));
    }
  }
}
