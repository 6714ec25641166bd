package org.draftmill.benchmarks;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * Every operation of the cuda backend at the shapes of an 8B target (hidden 4,096, 32 query and 8
 * key/value heads of 128, MLP 12,288, vocabulary 151,936): its time, and the share of what bounds
 * it, both measured before: the rate at which the device copies its memory, and that of the best
 * large product, the library's where it is there. Attention stands beside that of {@code
 * benchmarks/torch_models.py}. A smoke run takes tiny shapes, so that the emulator of CUDA can do
 * it.
 */
public final class CudaBenchmark {
  private static final int BLOCK = 16;

  /** Random values that are drawn; larger matrices repeat them. */
  private static final int DRAWN = (1 << 20) - 3;

  /** What the shapes are made of. */
  private record Scale(
      int rows,
      int hidden,
      int queryHeads,
      int keyHeads,
      int headDim,
      int inner,
      int vocabulary,
      int blocks) {
    static final Scale LARGE = new Scale(8192, 4096, 32, 8, 128, 12_288, 151_936, 512);
    static final Scale TINY = new Scale(32, 64, 4, 2, 16, 96, 160, 2);

    Heads heads() {
      return new Heads(queryHeads, keyHeads, headDim);
    }
  }

  /** Of the rate of copying, that kernels which move bytes should reach. */
  private static final double SHARE_OF_COPY = 0.85;

  /** Of the library's rate, that our own products should reach. */
  private static final double SHARE_OF_CUBLAS = 0.55;

  /** Of FlashAttention's rate, that attention should reach. */
  private static final double SHARE_OF_FLASH = 0.60;

  private final Results results;
  private final TorchFigures torch;
  private final Scale scale;
  private final int repeats;
  private final Random random = new Random(1);
  private final Backend backend;
  private final Backend cublas; // null where it is not there
  private final Ops ops;
  private double copyRate; // bytes a second
  private double peak; // operations a second

  private CudaBenchmark(Results results, TorchFigures torch, Backend backend, Backend cublas) {
    this.results = results;
    this.torch = torch;
    this.backend = backend;
    this.cublas = cublas;
    this.ops = backend.ops();
    this.scale = results.isSmoke() ? Scale.TINY : Scale.LARGE;
    this.repeats = results.isSmoke() ? 1 : 20;
  }

  /** {@code [--smoke]}. */
  public static void main(String[] args) throws Exception {
    Results results = new Results("cuda", args);
    results.figure("gpus", CudaBackend.usable() ? 1 : 0);
    if (CudaBackend.usable()) {
      boolean library = CudaBackend.hasCublas();
      System.out.println(library ? "  with cuBLAS" : "  cuBLAS cannot be used here: left out");
      try (Backend backend = CudaBackend.open(0);
          Backend cublas = library ? CudaBackend.open(0, MatrixProducts.CUBLAS) : null) {
        CudaBenchmark benchmark = new CudaBenchmark(results, TorchFigures.read(), backend, cublas);
        benchmark.ceilings();
        benchmark.memoryBound();
        benchmark.products();
        benchmark.attention();
        benchmark.loss();
        benchmark.endOfStep();
      }
    }
    results.write();
  }

  private void ceilings() {
    try (Workspace memory = backend.workspace()) {
      memory.zeros(1, 4).toArray(); // the device's context is this thread's from here on
    }
    copyRate = DeviceCopy.rate(results.isSmoke() ? 1 << 16 : 1 << 30);
    results.figure("copy_of_the_driver_gigabytes_per_second", 1e-9 * copyRate);
    int n = results.isSmoke() ? 64 : 8192;
    double flops = 2.0 * n * n * n;
    for (Backend one : cublas == null ? List.of(backend) : List.of(backend, cublas)) {
      try (Workspace memory = one.workspace()) {
        Matrix x = random(memory, n, n);
        Weight w = memory.arrange(random(memory, n, n));
        Matrix out = memory.matrix(n, n);
        double rate = flops / seconds(out, () -> one.ops().linear(x, w, out));
        results.figure(
            (one == cublas ? "cublas" : "own") + "_product_%d_cubed_teraflops".formatted(n),
            1e-12 * rate);
        peak = Math.max(peak, rate);
      }
    }
  }

  private Matrix random(Workspace memory, int rows, int columns) {
    float[] values = new float[rows * columns];
    int drawn = Math.min(values.length, DRAWN);
    for (int i = 0; i < drawn; i++) {
      values[i] = random.nextFloat() - 0.5f;
    }
    for (int at = drawn; at < values.length; at += drawn) {
      System.arraycopy(values, 0, values, at, Math.min(drawn, values.length - at));
    }
    return memory.matrix(rows, columns, values);
  }

  private interface Work {
    void run();
  }

  /** Seconds of one round: several are put on the device, the last one's result is awaited. */
  private double seconds(Matrix result, Work work) {
    double best = Double.POSITIVE_INFINITY;
    float[] row = new float[result.columns()];
    for (int round = 0; round < 4; round++) {
      work.run(); // the first one loads kernels
      result.rows(0, 1).read(row, 0);
      long start = System.nanoTime();
      for (int i = 0; i < repeats; i++) {
        work.run();
      }
      result.rows(0, 1).read(row, 0);
      best = Math.min(best, (System.nanoTime() - start) * 1e-9 / repeats);
    }
    return best;
  }

  /**
   * @param values floats read and written
   */
  private void bytes(String name, double values, Matrix result, Work work) {
    double seconds = seconds(result, work);
    results.figure(name + "_microseconds", 1e6 * seconds);
    double rate = 4 * values / seconds;
    results.figure(name + "_gigabytes_per_second", 1e-9 * rate);
    results.figure(name + "_share_of_copy", rate / copyRate);
  }

  /** Work that should be bound by the memory alone. */
  private void memoryBound(String name, double values, Matrix result, Work work) {
    bytes(name, values, result, work);
    results.atLeast(name + "_share_of_copy", SHARE_OF_COPY);
  }

  /** Operations a second. */
  private double flops(String name, double flops, Matrix result, Work work) {
    double seconds = seconds(result, work);
    results.figure(name + "_microseconds", 1e6 * seconds);
    results.figure(name + "_teraflops", 1e-12 * flops / seconds);
    results.figure(name + "_share_of_best_product", flops / seconds / peak);
    return flops / seconds;
  }

  private void memoryBound() {
    int n = scale.rows;
    int c = scale.hidden;
    double size = (double) n * c;
    try (Workspace memory = backend.workspace()) {
      Matrix x = random(memory, n, c);
      Matrix y = random(memory, n, c);
      Matrix out = memory.zeros(n, c);
      Matrix weight = random(memory, 1, c);
      Matrix dWeight = memory.zeros(1, c);
      memoryBound("copy_into_columns", 2 * size, out, () -> ops.copyIntoColumns(x, out, 0));
      memoryBound("add", 3 * size, out, () -> ops.add(x, y, out));
      memoryBound("add_bias", 2 * size, out, () -> ops.addBias(out, weight));
      memoryBound("swiglu", 3 * size, out, () -> ops.swiglu(x, y, out));
      Matrix dUp = memory.zeros(n, c);
      memoryBound("swiglu_backward", 5 * size, out, () -> ops.swigluBackward(x, y, x, out, dUp));
      memoryBound("rms_norm", 2 * size, out, () -> ops.rmsNorm(x, weight, 1e-6f, out));
      memoryBound(
          "rms_norm_backward",
          3 * size,
          out,
          () -> ops.rmsNormBackward(x, weight, 1e-6f, y, out, dWeight));
      Matrix head = random(memory, 1, scale.headDim);
      memoryBound("rms_norm_of_heads", 2 * size, out, () -> ops.rmsNorm(x, head, 1e-6f, out));
      Ints rows = memory.ints(random.ints(n, 0, n).toArray());
      memoryBound("gather_rows", 2 * size, out, () -> ops.gatherRows(x, rows, out));
      memoryBound("scatter_add_rows", 3 * size, out, () -> ops.scatterAddRows(x, rows, out));
      RopeTable table = rope();
      memoryBound("rope", 2 * size, out, () -> ops.rope(out, rows, table));
    }
  }

  private RopeTable rope() {
    double[] frequency = new double[scale.headDim / 2];
    Arrays.setAll(frequency, j -> Math.pow(1e6, -2.0 * j / scale.headDim));
    return new RopeTable(frequency, 1);
  }

  /** The projections of a layer, and of a drafter's taps. */
  private void products() {
    int queries = scale.queryHeads * scale.headDim;
    int keys = scale.keyHeads * scale.headDim;
    product("queries", queries, scale.hidden);
    product("keys", keys, scale.hidden);
    product("gate", scale.inner, scale.hidden);
    product("down", scale.hidden, scale.inner);
    product("taps", scale.hidden, 5 * scale.hidden);
  }

  private void product(String name, int outputs, int inputs) {
    String size = "%s_%dx%dx%d".formatted(name, scale.rows, outputs, inputs);
    double[] own = product("own_" + size, backend, outputs, inputs);
    if (cublas != null) {
      double[] library = product("cublas_" + size, cublas, outputs, inputs);
      String[] names = {size, size + "_backward_input", size + "_backward_weight"};
      for (int i = 0; i < names.length; i++) {
        String share = "own_" + names[i] + "_share_of_cublas";
        results.figure(share, own[i] / library[i]);
        results.atLeast(share, SHARE_OF_CUBLAS);
      }
    }
  }

  /** Operations a second: forward, and both gradients. */
  private double[] product(String name, Backend on, int outputs, int inputs) {
    int n = scale.rows;
    double flops = 2.0 * n * outputs * inputs;
    Ops products = on.ops();
    try (Workspace memory = on.workspace()) {
      Matrix x = random(memory, n, inputs);
      Matrix values = random(memory, outputs, inputs);
      Weight w = memory.arrange(values);
      Matrix out = memory.matrix(n, outputs);
      Matrix dX = memory.matrix(n, inputs);
      return new double[] {
        flops(name, flops, out, () -> products.linear(x, w, out)),
        flops(
            name + "_backward_input",
            flops,
            dX,
            () -> products.linearBackwardInput(out, w, dX, false)),
        flops(
            name + "_backward_weight",
            flops,
            values,
            () -> products.linearBackwardWeight(out, x, values))
      };
    }
  }

  private void attention() {
    Heads heads = scale.heads();
    int n = scale.rows;
    try (Workspace memory = backend.workspace()) {
      Matrix q = random(memory, n, heads.queryColumns());
      Matrix k = random(memory, n, heads.keyValueColumns());
      Matrix v = random(memory, n, heads.keyValueColumns());
      Matrix out = memory.matrix(n, heads.queryColumns());
      double flops = 2.0 * n * n * heads.queryColumns(); // half of 4·n²·columns: causal
      String name = "causal_attention_%d".formatted(n);
      double rate =
          flops(
              name,
              flops,
              out,
              () -> ops.causalAttention(q, k, v, new int[] {0, n}, heads, 0, out));
      for (String other : List.of("flash_attention_2", "sdpa")) {
        torch.share(
            results,
            name + "_share_of_" + other,
            1e-12 * rate,
            other + "_teraflops",
            SHARE_OF_FLASH);
      }
      Matrix one = out.rows(0, 1);
      bytes(
          "cached_attention_1_of_%d".formatted(n),
          2.0 * n * heads.keyValueColumns(),
          one,
          () -> ops.cachedAttention(q.rows(0, 1), k, v, n, heads, 0, one));
      blockAttention(memory, k, v, heads);
    }
  }

  private void blockAttention(Workspace memory, Matrix k, Matrix v, Heads heads) {
    int context = scale.rows;
    int[] starts = new int[scale.blocks];
    int[] anchors = new int[scale.blocks];
    long keys = 0;
    for (int b = 0; b < scale.blocks; b++) {
      anchors[b] = (int) ((long) b * context / scale.blocks);
      keys += anchors[b] + BLOCK;
    }
    Blocks blocks = new Blocks(BLOCK, starts, anchors, 0);
    Matrix q = random(memory, blocks.rows(), heads.queryColumns());
    Matrix blockK = random(memory, blocks.rows(), heads.keyValueColumns());
    Matrix blockV = random(memory, blocks.rows(), heads.keyValueColumns());
    Matrix out = memory.matrix(blocks.rows(), heads.queryColumns());
    Matrix logSumExp = memory.matrix(blocks.rows(), heads.queryHeads());
    double flops = 4.0 * BLOCK * keys * heads.queryColumns();
    flops(
        "block_attention_%d_blocks".formatted(scale.blocks),
        flops,
        out,
        () -> ops.blockAttention(q, k, v, blockK, blockV, blocks, heads, out, logSumExp));
    BlockAttentionGradients gradients =
        new BlockAttentionGradients(
            memory.matrix(q.rows(), q.columns()),
            memory.zeros(k.rows(), k.columns()),
            memory.zeros(v.rows(), v.columns()),
            memory.matrix(blockK.rows(), blockK.columns()),
            memory.matrix(blockV.rows(), blockV.columns()));
    Matrix dOut = random(memory, out.rows(), out.columns());
    flops(
        "block_attention_backward_%d_blocks".formatted(scale.blocks),
        2.5 * flops,
        gradients.dQ(),
        () ->
            ops.blockAttentionBackward(
                gradients, q, k, v, blockK, blockV, blocks, heads, out, logSumExp, dOut));
  }

  private void loss() {
    int slots = (BLOCK - 1) * scale.blocks;
    try (Workspace memory = backend.workspace()) {
      Matrix x = random(memory, slots, scale.hidden);
      Weight head = memory.arrange(random(memory, scale.vocabulary, scale.hidden));
      byte[] supervised = new byte[slots];
      Arrays.fill(supervised, (byte) 1);
      HeadLoss loss =
          new HeadLoss(
              BLOCK - 1,
              random.ints(slots, 0, scale.vocabulary).toArray(),
              supervised,
              null,
              (BLOCK - 1) * Math.min(scale.blocks, 64),
              new HeadLoss.Settings(false, 1f, 0f, 7f, Float.NaN, 0f));
      Matrix dX = memory.matrix(slots, scale.hidden);
      flops(
          "head_loss_%d_slots".formatted(slots),
          4.0 * slots * scale.vocabulary * scale.hidden,
          dX,
          () -> ops.headLoss(x, head, null, loss, memory, dX));
    }
  }

  /**
   * What a drafter does with its gradient: exact sums, the norm, AdamW, the hash of the weights.
   */
  private void endOfStep() {
    int n = results.isSmoke() ? 5000 : 1 << 27;
    try (Workspace memory = backend.workspace();
        ExactSums sums = backend.exactSums(n);
        Masters masters = backend.masters(new float[n], 0, n)) {
      Matrix gradient = random(memory, 1, n);
      Matrix weights = masters.view(0, 1, 4);
      double[] squares = new double[(n + Masters.BLOCK - 1) / Masters.BLOCK];
      AdamW adamW = AdamW.of(6e-4, 0.9, 0.95, 1e-8, 0.01, 1);
      memoryBound("exact_sums", 5.0 * n, weights, () -> sums.add(gradient, 0));
      memoryBound("block_squares", 2.0 * n, weights, () -> masters.squares(sums, 1e-9, squares));
      memoryBound("adamw", 8.0 * n, weights, () -> masters.update(sums, 1e-9, adamW, 0, n));
      memoryBound("fingerprint", n, weights, masters::fingerprint);
    }
  }
}
