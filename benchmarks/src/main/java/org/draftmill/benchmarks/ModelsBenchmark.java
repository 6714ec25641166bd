package org.draftmill.benchmarks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import org.draftmill.compute.DType;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterSettings;
import org.draftmill.compute.drafter.DrafterTrainer;
import org.draftmill.compute.drafter.HiddenRows;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.OptimizerSettings;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.compute.target.TargetModel;

/**
 * A target's forward pass and a drafter's step on a GPU at the shape of Qwen3-8B, with random
 * weights, by our own products and by cuBLAS, beside what {@code benchmarks/torch_models.py}
 * measured. {@code [--smoke] [--layers N]}: of the target's 36 layers N are there, 12 if nothing is
 * said; each costs the same. A smoke run takes tiny shapes, so that the emulator of CUDA can do it.
 */
public final class ModelsBenchmark {
  private static final int TAPS = 5;
  private static final int DRAFT_LAYERS = 5;

  /** What runs through the models. */
  private record Scale(
      int documents, int length, int drafterDocuments, int anchors, int block, long logitBytes) {
    static final Scale LARGE = new Scale(4, 3072, 2, 512, 16, 1L << 30);
    static final Scale TINY = new Scale(2, 24, 2, 4, 4, 1L << 16);
  }

  private final Results results;
  private final TorchFigures torch;
  private final Scale scale;
  private final Stopwatch stopwatch;
  private final Path model;
  private final int layers;
  private final Random random = new Random(1);

  private ModelsBenchmark(Results results, TorchFigures torch, Path model, int layers) {
    this.results = results;
    this.torch = torch;
    this.scale = results.isSmoke() ? Scale.TINY : Scale.LARGE;
    this.stopwatch = new Stopwatch(results.isSmoke() ? 0.001 : 2);
    this.model = model;
    this.layers = layers;
  }

  public static void main(String[] args) throws Exception {
    Results results = new Results("models", args);
    int at = Arrays.asList(args).indexOf("--layers");
    int layers = at >= 0 ? Integer.parseInt(args[at + 1]) : results.isSmoke() ? 6 : 12;
    results.figure("gpus", CudaBackend.usable() ? 1 : 0);
    if (CudaBackend.usable()) {
      try (TemporaryFolder folder = TemporaryFolder.create()) {
        RandomTarget.Shape shape =
            results.isSmoke() ? RandomTarget.Shape.tiny(layers) : RandomTarget.Shape.large(layers);
        RandomTarget.write(folder.path(), shape);
        ModelsBenchmark benchmark =
            new ModelsBenchmark(results, TorchFigures.read(), folder.path(), layers);
        benchmark.measure(MatrixProducts.OWN, 0.55);
        if (CudaBackend.hasCublas()) {
          benchmark.measure(MatrixProducts.CUBLAS, 0.85);
        } else {
          System.out.println("  cuBLAS cannot be used here: left out");
        }
      }
    }
    results.write();
  }

  /**
   * @param share of PyTorch's rate that the target should reach
   */
  private void measure(MatrixProducts products, double share) throws Exception {
    String suffix = "_" + products.name().toLowerCase(Locale.ROOT);
    try (Backend backend = CudaBackend.open(0, products)) {
      double target = target(backend);
      results.figure("target_tokens_per_second" + suffix, target);
      torch.share(
          results,
          "target" + suffix + "_share_of_pytorch",
          target,
          "target_tokens_per_second",
          share);
      double drafter = drafter(backend);
      results.figure("drafter_steps_per_second" + suffix, drafter);
      torch.share(
          results,
          "drafter" + suffix + "_share_of_pytorch",
          drafter,
          "drafter_steps_per_second",
          1);
    }
  }

  /** From the first layer to the last one, so that all of them run. */
  private Taps taps() {
    return new Taps(
        IntStream.range(0, TAPS)
            .mapToObj(i -> (int) Math.rint(i * (layers - 1.0) / (TAPS - 1)))
            .toList());
  }

  private int[] starts(int documents) {
    return IntStream.rangeClosed(0, documents).map(d -> d * scale.length).toArray();
  }

  /** Tokens a second. */
  private double target(Backend backend) throws Exception {
    try (TargetModel target = TargetModel.load(model, backend)) {
      int rows = scale.documents * scale.length;
      int[] ids = random.ints(rows, 0, target.config().vocabulary()).toArray();
      int[] starts = starts(scale.documents);
      ByteBuffer row =
          ByteBuffer.allocate(TAPS * target.config().hidden() * DType.BF16.bytes())
              .order(ByteOrder.LITTLE_ENDIAN);
      double seconds =
          stopwatch.best(
              () -> {
                try (var forward = target.forward(ids, starts, taps(), false)) {
                  forward.encodeTaps(rows - 1, rows, DType.BF16, row.clear()); // waits for it
                }
              });
      return rows / seconds;
    }
  }

  /** Steps a second, each of one microbatch. */
  private double drafter(Backend backend) throws Exception {
    TargetModel.Parts head = new TargetModel.Parts(0, true);
    try (TargetModel target = TargetModel.load(TargetConfig.read(model), head, backend)) {
      DrafterConfig config =
          DrafterConfig.of(
              target.config(),
              DrafterConfig.Choices.full(
                  taps(), DRAFT_LAYERS, scale.block, target.config().vocabulary() - 1));
      DrafterSettings settings =
          new DrafterSettings(
              42,
              1_000_000,
              scale.anchors,
              DrafterSettings.hardLabels(scale.block),
              OptimizerSettings.DEFAULTS,
              DrafterSettings.DEFAULT_PASS_ROWS,
              scale.logitBytes);
      Microbatch microbatch = microbatch(config);
      try (DrafterTrainer trainer =
              new DrafterTrainer(backend, target.head(), config, settings, weights(config), 0, 1);
          Collective alone = Collective.alone()) {
        return 1
            / stopwatch.best(
                () -> {
                  trainer.accumulate(microbatch);
                  trainer.step(alone);
                });
      }
    }
  }

  /** Random ones, drawn once and repeated: a billion would take long to draw. */
  private float[] weights(DrafterConfig config) {
    float[] weights = new float[new ParameterLayout(config).size()];
    int drawn = Math.min(weights.length, (1 << 20) - 3);
    for (int i = 0; i < drawn; i++) {
      weights[i] = (float) (0.02 * random.nextGaussian());
    }
    for (int at = drawn; at < weights.length; at += drawn) {
      System.arraycopy(weights, 0, weights, at, Math.min(drawn, weights.length - at));
    }
    return weights;
  }

  private Microbatch microbatch(DrafterConfig config) {
    int rows = scale.drafterDocuments * scale.length;
    ByteBuffer taps =
        ByteBuffer.allocate(rows * config.tapColumns() * DType.BF16.bytes())
            .order(ByteOrder.LITTLE_ENDIAN);
    while (taps.hasRemaining()) {
      int bits = Float.floatToRawIntBits(0.2f * (random.nextFloat() - 0.5f));
      taps.putShort((short) (bits >>> 16));
    }
    byte[] supervised = new byte[rows];
    Arrays.fill(supervised, (byte) 1);
    return new Microbatch(
        0,
        IntStream.range(0, scale.drafterDocuments).asLongStream().toArray(),
        starts(scale.drafterDocuments),
        random.ints(rows, 0, config.vocabularySize()).toArray(),
        supervised,
        List.of(new HiddenRows(0, rows, taps.flip(), null, DType.BF16)));
  }
}
