package org.draftmill.compute.target;

import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Weight;

/**
 * One pre-norm decoder layer, with H hidden columns:
 *
 * <pre>
 * x += o_proj(attention(rope(norm(q_proj x̃)), rope(norm(k_proj x̃)), v_proj x̃))   x̃ = input_layernorm(x)
 * x += down_proj(silu(gate_proj x̂) · up_proj x̂)                                  x̂ = post_attention_layernorm(x)
 * </pre>
 *
 * The norms on queries and keys, and the biases, are null where the family has none.
 */
record DecoderLayer(
    Heads heads,
    RopeTable rope,
    float normEps,
    int window,
    Matrix inputNorm, // [1, H]
    Projection query, // [queryColumns, H]
    Projection key, // [keyValueColumns, H]
    Projection value, // [keyValueColumns, H]
    Matrix queryNorm, // [1, headDim]
    Matrix keyNorm, // [1, headDim]
    Projection output, // [H, queryColumns]
    Matrix postAttentionNorm, // [1, H]
    Weight gate, // [intermediate, H]
    Weight up, // [intermediate, H]
    Weight down) { // [H, intermediate]

  /** A product with an optional bias {@code [1, outputs]}. */
  record Projection(Weight weight, Matrix bias) {
    void apply(Ops ops, Matrix x, Matrix out) {
      ops.linear(x, weight, out);
      if (bias != null) {
        ops.addBias(out, bias);
      }
    }
  }

  /** Where a layer's keys and values go, and what its queries see of them. */
  interface Attention {
    /** {@code [n, keyValueColumns]}, to be filled. */
    Matrix keys();

    /** {@code [n, keyValueColumns]}, to be filled. */
    Matrix values();

    /** Overwrites {@code out} with the attention of {@code q}; both {@code [n, queryColumns]}. */
    void attend(Matrix q, Heads heads, int window, Matrix out);
  }

  static DecoderLayer read(TargetConfig config, int layer, RopeTable rope, WeightReader reader) {
    String name = "layers." + layer + ".";
    String attention = name + "self_attn.";
    String mlp = name + "mlp.";
    Heads heads = config.heads();
    int hidden = config.hidden();
    int queries = heads.queryColumns();
    int keyValues = heads.keyValueColumns();
    boolean normed = config.family().queryKeyNorm();
    boolean biased = config.biases().queryKeyValue();
    return new DecoderLayer(
        heads,
        rope,
        config.normEps(),
        config.windows().get(layer),
        reader.vector(name + "input_layernorm.weight", hidden),
        projection(reader, attention + "q_proj", queries, hidden, biased),
        projection(reader, attention + "k_proj", keyValues, hidden, biased),
        projection(reader, attention + "v_proj", keyValues, hidden, biased),
        normed ? reader.vector(attention + "q_norm.weight", heads.headDim()) : null,
        normed ? reader.vector(attention + "k_norm.weight", heads.headDim()) : null,
        projection(reader, attention + "o_proj", hidden, queries, config.biases().output()),
        reader.vector(name + "post_attention_layernorm.weight", hidden),
        reader.weight(mlp + "gate_proj.weight", config.intermediate(), hidden),
        reader.weight(mlp + "up_proj.weight", config.intermediate(), hidden),
        reader.weight(mlp + "down_proj.weight", hidden, config.intermediate()));
  }

  private static Projection projection(
      WeightReader reader, String name, int outputs, int inputs, boolean biased) {
    return new Projection(
        reader.weight(name + ".weight", outputs, inputs),
        biased ? reader.vector(name + ".bias", outputs) : null);
  }

  /** Replaces the residual stream {@code x} of {@code a} by that after this layer. */
  void apply(Ops ops, Activations a, Ints positions, Attention attention) {
    ops.rmsNorm(a.x(), inputNorm, normEps, a.normed());
    query.apply(ops, a.normed(), a.queries());
    key.apply(ops, a.normed(), attention.keys());
    value.apply(ops, a.normed(), attention.values());
    if (queryNorm != null) {
      ops.rmsNorm(a.queries(), queryNorm, normEps, a.queries());
      ops.rmsNorm(attention.keys(), keyNorm, normEps, attention.keys());
    }
    ops.rope(a.queries(), positions, rope);
    ops.rope(attention.keys(), positions, rope);
    attention.attend(a.queries(), heads, window, a.attended());
    output.apply(ops, a.attended(), a.normed());
    ops.add(a.x(), a.normed(), a.x());
    mlp(ops, a);
  }

  /** Row block by row block, so that the widest activations stay small. */
  private void mlp(Ops ops, Activations a) {
    ops.rmsNorm(a.x(), postAttentionNorm, normEps, a.normed());
    int rows = a.x().rows();
    for (int from = 0; from < rows; from += Activations.MLP_ROWS) {
      int to = Math.min(rows, from + Activations.MLP_ROWS);
      Matrix block = a.normed().rows(from, to);
      Matrix gated = a.gate().rows(0, to - from);
      Matrix raised = a.up().rows(0, to - from);
      ops.linear(block, gate, gated);
      ops.linear(block, up, raised);
      ops.swiglu(gated, raised, gated);
      ops.linear(gated, down, block);
    }
    ops.add(a.x(), a.normed(), a.x());
  }
}
