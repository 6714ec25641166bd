package org.draftmill.compute.drafter;

import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * One layer of the drafter, forward and backward. With {@code x̃ = rmsNorm(x)} the queries come
 * from the block, keys and values from the context {@code c} and the block by the same projections:
 *
 * <pre>
 * q = rope(headNorm(W_q x̃))   k = rope(headNorm([W_k c ; W_k x̃]))   v = [W_v c ; W_v x̃]
 * middle = x + W_o·attention(q, k, v)
 * out    = middle + W_down·(silu(W_gate·m̃) · W_up·m̃),   m̃ = rmsNorm(middle)
 * </pre>
 *
 * Row names in the shapes: R query rows, C context rows, I rows of the input (R, or the distinct
 * ones), O rows of the output (R, or those kept).
 */
final class DrafterLayer {
  private final Ops ops;
  private final Heads heads;
  private final RopeTable rope;
  private final float eps;
  private final DrafterWeights.Layer weights;
  private final ParameterLayout.Layer parameters;

  /**
   * Which rows a layer works on.
   *
   * @param blocks geometry with the layer's window
   * @param contextPositions {@code [C]}
   * @param queryPositions {@code [R]}
   * @param distinct {@code [R]} the input row of each query row, or null when they are the same:
   *     the first layer projects equal inputs (the mask tokens) once
   * @param kept {@code [O]} the query rows whose output anybody reads, or null for all: after the
   *     last layer the anchors' own slots are of no use
   */
  record Rows(
      Blocks blocks, Ints contextPositions, Ints queryPositions, Ints distinct, Ints kept) {}

  /** What the forward pass leaves for the backward pass. */
  private static final class Saved {
    Rows rows;
    Matrix context; // [C, hidden]
    Matrix inputs; // [I, hidden]
    Matrix normed; // [I, hidden]
    Matrix rawQ; // [I, queryColumns] before norm and rope
    Matrix rawK; // [I, keyValueColumns]
    Matrix q; // [R, queryColumns]
    Matrix k; // [R, keyValueColumns]
    Matrix v; // [R, keyValueColumns]
    Matrix rawContextK; // [C, keyValueColumns]
    Matrix contextK; // [C, keyValueColumns]
    Matrix contextV; // [C, keyValueColumns]
    Matrix attention; // [R, queryColumns]
    Matrix logSumExp; // [R, queryHeads]
    Matrix keptAttention; // [O, queryColumns]
    Matrix middle; // [O, hidden]
    Matrix middleNormed; // [O, hidden]
    Matrix gate; // [O, intermediate]
    Matrix up; // [O, intermediate]
  }

  private Saved saved;

  /**
   * @param rope one for all layers: a backend computes the angles of each table anew
   */
  DrafterLayer(
      Ops ops,
      DrafterConfig config,
      RopeTable rope,
      DrafterWeights.Layer weights,
      ParameterLayout.Layer parameters) {
    this.ops = ops;
    this.heads = config.heads();
    this.rope = rope;
    this.eps = config.rmsNormEps();
    this.weights = weights;
    this.parameters = parameters;
  }

  /**
   * @param x {@code [R, hidden]}
   * @param inputs {@code [I, hidden]} the distinct rows of x, or x
   * @param context {@code [C, hidden]}
   * @param memory holds the result and all that {@link #backward} needs
   * @param temporary holds what is used here only
   * @return {@code [O, hidden]}
   */
  Matrix forward(
      Matrix x, Matrix inputs, Matrix context, Rows rows, Workspace memory, Workspace temporary) {
    Saved s = new Saved();
    s.context = context;
    s.rawContextK = linear(context, weights.k(), memory);
    s.contextK = like(s.rawContextK, memory);
    normKeys(s.rawContextK, rows.contextPositions(), s.contextK);
    s.contextV = linear(context, weights.v(), memory);
    Matrix out = block(s, x, inputs, rows, memory, temporary);
    saved = s;
    return out;
  }

  /**
   * Inference: puts the keys and values of context rows where they are kept.
   *
   * @param context {@code [n, hidden]}
   * @param positions {@code [n]}
   * @param k {@code [n, keyValueColumns]} is overwritten
   * @param v {@code [n, keyValueColumns]} is overwritten
   */
  void project(Matrix context, Ints positions, Matrix k, Matrix v, Workspace temporary) {
    normKeys(linear(context, weights.k(), temporary), positions, k);
    ops.linear(context, weights.v(), v);
  }

  /**
   * Inference: the layer on a block whose context was {@linkplain #project projected} before.
   *
   * @param x {@code [R, hidden]}
   * @param contextK {@code [≥ context, keyValueColumns]}
   * @param contextV {@code [≥ context, keyValueColumns]}
   * @return {@code [O, hidden]}
   */
  Matrix draft(Matrix x, Matrix contextK, Matrix contextV, Rows rows, Workspace memory) {
    Saved s = new Saved();
    s.contextK = contextK;
    s.contextV = contextV;
    return block(s, x, x, rows, memory, memory);
  }

  private void normKeys(Matrix raw, Ints positions, Matrix k) {
    ops.rmsNorm(raw, weights.kNorm(), eps, k);
    ops.rope(k, positions, rope);
  }

  private Matrix block(
      Saved s, Matrix x, Matrix inputs, Rows rows, Workspace memory, Workspace temporary) {
    s.rows = rows;
    s.inputs = inputs;
    s.normed = rmsNorm(inputs, weights.inputNorm(), memory);
    s.rawQ = linear(s.normed, weights.q(), memory);
    s.q = expanded(rmsNorm(s.rawQ, weights.qNorm(), memory), rows, memory);
    ops.rope(s.q, rows.queryPositions(), rope);
    s.rawK = linear(s.normed, weights.k(), memory);
    s.k = expanded(rmsNorm(s.rawK, weights.kNorm(), memory), rows, memory);
    ops.rope(s.k, rows.queryPositions(), rope);
    s.v = expanded(linear(s.normed, weights.v(), memory), rows, memory);
    s.attention = like(s.q, memory);
    s.logSumExp = memory.matrix(s.q.rows(), heads.queryHeads());
    ops.blockAttention(
        s.q, s.contextK, s.contextV, s.k, s.v, rows.blocks(), heads, s.attention, s.logSumExp);
    s.keptAttention = kept(s.attention, rows, memory);
    s.middle = linear(s.keptAttention, weights.o(), memory);
    ops.add(s.middle, kept(x, rows, temporary), s.middle);
    s.middleNormed = rmsNorm(s.middle, weights.postAttentionNorm(), memory);
    s.gate = linear(s.middleNormed, weights.gate(), memory);
    s.up = linear(s.middleNormed, weights.up(), memory);
    Matrix product = like(s.gate, temporary);
    ops.swiglu(s.gate, s.up, product);
    Matrix out = linear(product, weights.down(), memory);
    ops.add(out, s.middle, out);
    return out;
  }

  /**
   * The backward pass of the last {@link #forward}; drops what that kept.
   *
   * @param dOut {@code [O, hidden]}; its content is overwritten
   * @param dContext {@code [C, hidden]}: overwritten, or added to when {@code accumulate}
   * @param dX {@code [R, hidden]} is overwritten with the gradient of x; may be dOut when all rows
   *     are kept; null where nobody needs it (it is needed unless the inputs are frozen)
   * @param temporary holds what is used here only
   */
  void backward(
      Matrix dOut,
      Matrix dContext,
      boolean accumulate,
      Matrix dX,
      Workspace temporary,
      GradientSink sink) {
    Saved s = saved;
    saved = null;
    Matrix dMiddle = mlpBackward(s, dOut, temporary, sink);
    Matrix dAttention = temporary.matrix(s.middle.rows(), heads.queryColumns());
    ops.linearBackwardInput(dMiddle, weights.o(), dAttention, false);
    weightGradient(parameters.o(), dMiddle, s.keptAttention, temporary, sink);
    dAttention = spread(dAttention, s.rows, s.q.rows(), temporary);

    Matrix dQ = like(s.q, temporary);
    Matrix dK = like(s.k, temporary);
    Matrix dV = like(s.v, temporary);
    Matrix dContextK = temporary.zeros(s.contextK.rows(), s.contextK.columns());
    Matrix dContextV = temporary.zeros(s.contextV.rows(), s.contextV.columns());
    ops.blockAttentionBackward(
        new Ops.BlockAttentionGradients(dQ, dContextK, dContextV, dK, dV),
        s.q,
        s.contextK,
        s.contextV,
        s.k,
        s.v,
        s.rows.blocks(),
        heads,
        s.attention,
        s.logSumExp,
        dAttention);
    ops.ropeBackward(dQ, s.rows.queryPositions(), rope);
    ops.ropeBackward(dK, s.rows.queryPositions(), rope);
    ops.ropeBackward(dContextK, s.rows.contextPositions(), rope);
    dQ = gathered(dQ, s, temporary);
    dK = gathered(dK, s, temporary);
    dV = gathered(dV, s, temporary);

    Matrix dQNorm = temporary.zeros(1, heads.headDim());
    ops.rmsNormBackward(s.rawQ, weights.qNorm(), eps, dQ, dQ, dQNorm);
    sink.accept(parameters.qNorm(), dQNorm);
    Matrix dKNorm = temporary.zeros(1, heads.headDim());
    ops.rmsNormBackward(s.rawContextK, weights.kNorm(), eps, dContextK, dContextK, dKNorm);
    ops.rmsNormBackward(s.rawK, weights.kNorm(), eps, dK, dK, dKNorm);
    sink.accept(parameters.kNorm(), dKNorm);

    weightGradient(parameters.q(), dQ, s.normed, temporary, sink);
    weightGradient(parameters.k(), dContextK, s.context, dK, s.normed, temporary, sink);
    weightGradient(parameters.v(), dContextV, s.context, dV, s.normed, temporary, sink);
    ops.linearBackwardInput(dContextK, weights.k(), dContext, accumulate);
    ops.linearBackwardInput(dContextV, weights.v(), dContext, true);

    Matrix dNormed = like(s.normed, temporary);
    ops.linearBackwardInput(dQ, weights.q(), dNormed, false);
    ops.linearBackwardInput(dK, weights.k(), dNormed, true);
    ops.linearBackwardInput(dV, weights.v(), dNormed, true);
    normBackward(parameters.inputNorm(), s.inputs, weights.inputNorm(), dNormed, temporary, sink);
    if (dX != null) {
      ops.add(spread(dMiddle, s.rows, s.q.rows(), temporary), dNormed, dX);
    }
  }

  /** Turns dOut into the gradient of {@code middle}, in place. */
  private Matrix mlpBackward(Saved s, Matrix dOut, Workspace temporary, GradientSink sink) {
    Matrix product = like(s.gate, temporary);
    ops.swiglu(s.gate, s.up, product);
    weightGradient(parameters.down(), dOut, product, temporary, sink);
    Matrix dUp = like(s.gate, temporary);
    ops.linearBackwardInput(dOut, weights.down(), dUp, false);
    Matrix dGate = product;
    ops.swigluBackward(s.gate, s.up, dUp, dGate, dUp);
    weightGradient(parameters.gate(), dGate, s.middleNormed, temporary, sink);
    weightGradient(parameters.up(), dUp, s.middleNormed, temporary, sink);
    Matrix dNormed = like(s.middle, temporary);
    ops.linearBackwardInput(dGate, weights.gate(), dNormed, false);
    ops.linearBackwardInput(dUp, weights.up(), dNormed, true);
    normBackward(
        parameters.postAttentionNorm(),
        s.middle,
        weights.postAttentionNorm(),
        dNormed,
        temporary,
        sink);
    ops.add(dOut, dNormed, dOut);
    return dOut;
  }

  /** Turns dNormed into the gradient of x, in place. */
  private void normBackward(
      ParameterLayout.Parameter parameter,
      Matrix x,
      Matrix weight,
      Matrix dNormed,
      Workspace temporary,
      GradientSink sink) {
    Matrix dWeight = temporary.zeros(1, x.columns());
    ops.rmsNormBackward(x, weight, eps, dNormed, dNormed, dWeight);
    sink.accept(parameter, dWeight);
  }

  private void weightGradient(
      ParameterLayout.Parameter parameter,
      Matrix dOut,
      Matrix x,
      Workspace temporary,
      GradientSink sink) {
    Matrix dWeight = temporary.zeros(parameter.rows(), parameter.columns());
    ops.linearBackwardWeight(dOut, x, dWeight);
    sink.accept(parameter, dWeight);
  }

  private void weightGradient(
      ParameterLayout.Parameter parameter,
      Matrix dOfContext,
      Matrix context,
      Matrix dOfBlock,
      Matrix block,
      Workspace temporary,
      GradientSink sink) {
    Matrix dWeight = temporary.zeros(parameter.rows(), parameter.columns());
    ops.linearBackwardWeight(dOfContext, context, dWeight);
    ops.linearBackwardWeight(dOfBlock, block, dWeight);
    sink.accept(parameter, dWeight);
  }

  /** Input rows to query rows. */
  private Matrix expanded(Matrix inputs, Rows rows, Workspace memory) {
    if (rows.distinct() == null) {
      return inputs;
    }
    Matrix out = memory.matrix(rows.distinct().size(), inputs.columns());
    ops.gatherRows(inputs, rows.distinct(), out);
    return out;
  }

  /** Gradients of query rows to those of input rows. */
  private Matrix gathered(Matrix dQuery, Saved s, Workspace temporary) {
    if (s.rows.distinct() == null) {
      return dQuery;
    }
    Matrix dInputs = temporary.zeros(s.inputs.rows(), dQuery.columns());
    ops.scatterAddRows(dQuery, s.rows.distinct(), dInputs);
    return dInputs;
  }

  /** Query rows to output rows. */
  private Matrix kept(Matrix query, Rows rows, Workspace memory) {
    if (rows.kept() == null) {
      return query;
    }
    Matrix out = memory.matrix(rows.kept().size(), query.columns());
    ops.gatherRows(query, rows.kept(), out);
    return out;
  }

  /** Gradients of output rows to those of query rows, zero where nothing was kept. */
  private Matrix spread(Matrix dOutput, Rows rows, int queryRows, Workspace temporary) {
    if (rows.kept() == null) {
      return dOutput;
    }
    Matrix dQuery = temporary.zeros(queryRows, dOutput.columns());
    ops.scatterAddRows(dOutput, rows.kept(), dQuery);
    return dQuery;
  }

  private Matrix rmsNorm(Matrix x, Matrix weight, Workspace memory) {
    Matrix out = like(x, memory);
    ops.rmsNorm(x, weight, eps, out);
    return out;
  }

  private Matrix linear(Matrix x, Weight weight, Workspace memory) {
    Matrix out = memory.matrix(x.rows(), weight.outputs());
    ops.linear(x, weight, out);
    return out;
  }

  private static Matrix like(Matrix x, Workspace memory) {
    return memory.matrix(x.rows(), x.columns());
  }
}
