package org.draftmill.compute;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Ops.BlockAttentionGradients;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * Every operation on fixed random inputs of odd sizes: what a backend makes of them is compared.
 */
public final class OpCases {
  private static final float EPS = 1e-6f;

  private OpCases() {}

  /** One operation on one set of inputs. */
  public record OpCase(String name, Run run) {
    public List<float[]> on(Backend backend) {
      try (Workspace memory = backend.workspace()) {
        Inputs inputs = new Inputs(backend, memory, new Random(name.hashCode()));
        List<float[]> results = new ArrayList<>();
        run.run(backend.ops(), inputs, results);
        return results;
      }
    }

    @Override
    public String toString() {
      return name;
    }
  }

  public interface Run {
    void run(Ops ops, Inputs in, List<float[]> results);
  }

  /** Random matrices; a backend's memory holds them. */
  public record Inputs(Backend backend, Workspace memory, Random random) {
    public Matrix random(int rows, int columns) {
      return random(rows, columns, 1);
    }

    public Matrix random(int rows, int columns, double scale) {
      float[] values = new float[rows * columns];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) (random.nextGaussian() * scale);
      }
      return memory.matrix(rows, columns, values);
    }

    public Matrix undefined(int rows, int columns) {
      return memory.matrix(rows, columns);
    }

    public int[] ids(int count, int bound) {
      return random.ints(count, 0, bound).toArray();
    }
  }

  public static List<OpCase> all() {
    List<OpCase> cases = new ArrayList<>();
    rows(cases);
    elements(cases);
    norms(cases);
    products(cases);
    attention(cases);
    blockAttention(cases);
    longBlock(cases);
    headLoss(cases);
    cases.addAll(StepCases.all());
    return cases;
  }

  /** Every fourth case, for slow runs: some of each kind. */
  public static List<OpCase> some() {
    List<OpCase> all = all();
    List<OpCase> some = new ArrayList<>();
    for (int i = 1; i < all.size(); i += 4) {
      some.add(all.get(i));
    }
    return some;
  }

  private static void add(List<OpCase> cases, String name, Run run) {
    cases.add(new OpCase(name, run));
  }

  private static void rows(List<OpCase> cases) {
    for (int columns : new int[] {1, 37, 64}) {
      add(
          cases,
          "embed, gather, scatter " + columns,
          (ops, in, results) -> {
            Matrix table = in.random(29, columns);
            Matrix out = in.undefined(150, columns);
            ops.embed(table, in.memory().ints(in.ids(150, 29)), out);
            results.add(out.toArray());
            Matrix picked = in.undefined(71, columns);
            ops.gatherRows(out, in.memory().ints(in.ids(71, 150)), picked);
            results.add(picked.toArray());
            Matrix sums = in.random(13, columns);
            ops.scatterAddRows(picked, in.memory().ints(in.ids(71, 13)), sums);
            results.add(sums.toArray());
            Matrix wide = in.memory().zeros(150, columns + 9);
            ops.copyIntoColumns(out, wide, 5);
            results.add(wide.toArray());
          });
    }
  }

  private static void elements(List<OpCase> cases) {
    for (int[] size : new int[][] {{1, 1}, {3, 17}, {65, 80}, {130, 33}}) {
      int n = size[0];
      int c = size[1];
      add(
          cases,
          "add, bias " + n + "x" + c,
          (ops, in, results) -> {
            Matrix x = in.random(n, c);
            Matrix out = in.undefined(n, c);
            ops.add(x, in.random(n, c), out);
            results.add(out.toArray());
            ops.add(out, x, x);
            ops.addBias(x, in.random(1, c));
            results.add(x.toArray());
            results.add(toFloats(ops.argmaxRows(x)));
          });
      add(
          cases,
          "swiglu " + n + "x" + c,
          (ops, in, results) -> {
            Matrix gate = in.random(n, c, 6);
            Matrix up = in.random(n, c);
            Matrix out = in.undefined(n, c);
            ops.swiglu(gate, up, out);
            results.add(out.toArray());
            Matrix dGate = in.undefined(n, c);
            Matrix dOut = in.random(n, c);
            ops.swigluBackward(gate, up, dOut, dGate, dOut);
            results.add(dGate.toArray());
            results.add(dOut.toArray());
            ops.swiglu(gate, up, up);
            results.add(up.toArray());
            ops.swiglu(gate, out, gate);
            results.add(gate.toArray());
          });
      add(
          cases,
          "rope " + n + "x" + c,
          (ops, in, results) -> {
            double[] frequency = new double[c];
            for (int j = 0; j < c; j++) {
              frequency[j] = Math.pow(10000, -j / (double) c);
            }
            RopeTable table = new RopeTable(frequency, 1.25);
            Matrix x = in.random(n, 3 * 2 * c);
            int[] positions = in.ids(n, 700);
            ops.rope(x, in.memory().ints(positions), table);
            results.add(x.toArray());
            ops.ropeBackward(x, in.memory().ints(positions), table);
            results.add(x.toArray());
          });
    }
  }

  private static void norms(List<OpCase> cases) {
    for (int[] size :
        new int[][] {{1, 1, 7}, {5, 3, 12}, {65, 1, 256}, {150, 2, 64}, {4, 1, 100}}) {
      int n = size[0];
      int group = size[2];
      int columns = size[1] * group;
      add(
          cases,
          "norm " + n + "x" + size[1] + "x" + group,
          (ops, in, results) -> {
            Matrix x = in.random(n, columns, 2);
            Matrix weight = in.random(1, group);
            Matrix out = in.undefined(n, columns);
            ops.rmsNorm(x, weight, EPS, out);
            results.add(out.toArray());
            Matrix dOut = in.random(n, columns);
            Matrix dWeight = in.random(1, group);
            ops.rmsNormBackward(x, weight, EPS, dOut, dOut, dWeight);
            results.add(dOut.toArray());
            results.add(dWeight.toArray());
            ops.rmsNorm(x, weight, EPS, x);
            results.add(x.toArray());
          });
    }
  }

  private static void products(List<OpCase> cases) {
    int[][] sizes = {
      {1, 1, 1},
      {1, 300, 130},
      {2, 13, 65},
      {5, 64, 64},
      {7, 65, 31},
      {8, 520, 96},
      {97, 33, 129},
      {131, 256, 48},
      {300, 12, 200},
      {2100, 5, 9}
    };
    for (int[] size : sizes) {
      int n = size[0];
      int inputs = size[1];
      int outputs = size[2];
      add(
          cases,
          "linear " + n + "x" + inputs + "x" + outputs,
          (ops, in, results) -> {
            Matrix x = in.random(n, inputs);
            Weight w = in.memory().arrange(in.random(outputs, inputs, 1 / Math.sqrt(inputs)));
            Matrix out = in.undefined(n, outputs);
            ops.linear(x, w, out);
            results.add(out.toArray());
            Matrix dOut = in.random(n, outputs);
            Matrix dX = in.undefined(n, inputs);
            ops.linearBackwardInput(dOut, w, dX, false);
            results.add(dX.toArray());
            in.memory().arrange(in.random(outputs, inputs, 1 / Math.sqrt(inputs)), w);
            ops.linearBackwardInput(dOut, w, dX, true);
            results.add(dX.toArray());
            ops.linear(x, w, out);
            results.add(out.toArray());
            Matrix dW = in.random(outputs, inputs);
            ops.linearBackwardWeight(dOut, x, dW);
            results.add(dW.toArray());
          });
    }
  }

  private static void attention(List<OpCase> cases) {
    Heads[] shapes = {
      new Heads(2, 1, 12), new Heads(3, 3, 32), new Heads(8, 2, 64), new Heads(2, 2, 80)
    };
    for (Heads heads : shapes) {
      for (int window : new int[] {0, 1, 37}) {
        add(
            cases,
            "attention " + heads + " window " + window,
            (ops, in, results) -> {
              int n = 1 + 130 + 49 + 7;
              Matrix q = in.random(n, heads.queryColumns(), 2);
              Matrix k = in.random(n, heads.keyValueColumns());
              Matrix v = in.random(n, heads.keyValueColumns());
              Matrix out = in.undefined(n, heads.queryColumns());
              ops.causalAttention(q, k, v, new int[] {0, 1, 131, 131, 180, n}, heads, window, out);
              results.add(out.toArray());
              Matrix some = in.undefined(5, heads.queryColumns());
              ops.cachedAttention(q.rows(0, 5), k, v, 101, heads, window, some);
              results.add(some.toArray());
            });
      }
    }
  }

  private static void blockAttention(List<OpCase> cases) {
    Heads[] shapes = {new Heads(4, 2, 12), new Heads(4, 2, 64), new Heads(3, 1, 80)};
    for (Heads heads : shapes) {
      for (int[] option : new int[][] {{4, 0}, {16, 0}, {7, 5}, {8, 60}}) {
        Blocks blocks =
            new Blocks(
                option[0],
                new int[] {0, 0, 0, 0, 0, 120, 120, 125, 125},
                new int[] {0, 1, 47, 48, 119, 0, 4, 31, 60},
                option[1]);
        add(
            cases,
            "block attention " + heads + " size " + option[0] + " window " + option[1],
            (ops, in, results) -> blockAttention(ops, in, results, heads, blocks));
      }
    }
  }

  private static void longBlock(List<OpCase> cases) {
    Blocks blocks = new Blocks(50, new int[] {0, 20}, new int[] {20, 110}, 0);
    add(
        cases,
        "block attention with more slots than a block of keys",
        (ops, in, results) -> blockAttention(ops, in, results, new Heads(2, 1, 12), blocks));
  }

  private static void blockAttention(
      Ops ops, Inputs in, List<float[]> results, Heads heads, Blocks blocks) {
    int context = 190;
    int rows = blocks.rows();
    Matrix q = in.random(rows, heads.queryColumns(), 2);
    Matrix contextK = in.random(context, heads.keyValueColumns());
    Matrix contextV = in.random(context, heads.keyValueColumns());
    Matrix blockK = in.random(rows, heads.keyValueColumns());
    Matrix blockV = in.random(rows, heads.keyValueColumns());
    Matrix out = in.undefined(rows, heads.queryColumns());
    Matrix logSumExp = in.undefined(rows, heads.queryHeads());
    ops.blockAttention(q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp);
    results.add(out.toArray());
    results.add(logSumExp.toArray());
    BlockAttentionGradients gradients =
        new BlockAttentionGradients(
            in.undefined(rows, heads.queryColumns()),
            in.random(context, heads.keyValueColumns()),
            in.random(context, heads.keyValueColumns()),
            in.undefined(rows, heads.keyValueColumns()),
            in.undefined(rows, heads.keyValueColumns()));
    Matrix dOut = in.random(rows, heads.queryColumns());
    ops.blockAttentionBackward(
        gradients, q, contextK, contextV, blockK, blockV, blocks, heads, out, logSumExp, dOut);
    results.add(gradients.dQ().toArray());
    results.add(gradients.accumulatedDContextK().toArray());
    results.add(gradients.accumulatedDContextV().toArray());
    results.add(gradients.dBlockK().toArray());
    results.add(gradients.dBlockV().toArray());
  }

  static final float OFF = Float.NaN;

  private static void headLoss(List<OpCase> cases) {
    HeadLoss.Settings[] settings = {
      new HeadLoss.Settings(false, 1f, 0f, 4f, OFF, 0f),
      new HeadLoss.Settings(true, 2f, 0.7f, 7f, OFF, 0f),
      new HeadLoss.Settings(true, 1f, 1f, 7f, 0.5f, 0.4f),
      new HeadLoss.Settings(false, 1f, 0f, 7f, 0.5f, 0.3f),
    };
    for (HeadLoss.Settings setting : settings) {
      for (int[] size : new int[][] {{3, 7, 13, 12}, {7, 12, 200, 64}, {1, 5, 3, 9}}) {
        add(
            cases,
            "head loss " + setting + " vocabulary " + size[2],
            (ops, in, results) ->
                headLoss(ops, in, results, setting, size[0], size[1], size[2], size[3]));
      }
    }
  }

  private static void headLoss(
      Ops ops,
      Inputs in,
      List<float[]> results,
      HeadLoss.Settings settings,
      int slotsPerBlock,
      int blocks,
      int vocabulary,
      int hidden) {
    int slots = slotsPerBlock * blocks;
    Matrix x = in.random(slots, hidden);
    Matrix teachers = in.random(19, hidden);
    Weight head = in.memory().arrange(in.random(vocabulary, hidden, 1.5 / Math.sqrt(hidden)));
    byte[] supervised = new byte[slots];
    for (int i = 0; i < slots; i++) {
      supervised[i] = (byte) (in.random().nextInt(4) == 0 ? 0 : 1);
    }
    HeadLoss loss =
        new HeadLoss(
            slotsPerBlock,
            in.ids(slots, Math.min(vocabulary, 3)),
            supervised,
            in.ids(slots, 19),
            2 * slotsPerBlock,
            settings);
    Matrix dX = in.undefined(slots, hidden);
    HeadLoss.Result result = ops.headLoss(x, head, teachers, loss, in.memory(), dX);
    results.add(dX.toArray());
    collect(result, results);
    collect(ops.headLoss(x, head, teachers, loss, in.memory(), null), results);
  }

  private static void collect(HeadLoss.Result result, List<float[]> results) {
    results.add(result.loss());
    results.add(result.confidence());
    results.add(result.weight());
    float[] hits = new float[result.hit().length];
    for (int i = 0; i < hits.length; i++) {
      hits[i] = result.hit()[i];
    }
    results.add(hits);
  }

  private static float[] toFloats(int[] values) {
    float[] floats = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      floats[i] = values[i];
    }
    return floats;
  }
}
