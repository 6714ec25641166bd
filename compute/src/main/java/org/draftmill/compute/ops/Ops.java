package org.draftmill.compute.ops;

/**
 * The tensor operations that the models are made of. Shapes stand beside each argument; {@code out}
 * is overwritten, an argument named {@code accumulated…} is added to. Outputs never alias inputs
 * unless the method says they may.
 *
 * <p>Exactness, on every implementation: a row of a result depends only on that row's inputs (never
 * on how many rows there are), and no result depends on the number of threads or the width of
 * vectors. A sum runs in ascending index order in fp32 with fused multiply-add, or in another tree
 * that is fixed by the shape alone.
 */
public interface Ops {

  /**
   * {@code out[i] = table[ids[i]]}; table {@code [vocabulary, columns]}, out {@code [ids,
   * columns]}.
   */
  void embed(Matrix table, Ints ids, Matrix out);

  /** {@code out[i] = x[rows[i]]}; x {@code [n, columns]}, out {@code [rows, columns]}. */
  void gatherRows(Matrix x, Ints rows, Matrix out);

  /** {@code accumulated[rows[i]] += x[i]}, in ascending i. */
  void scatterAddRows(Matrix x, Ints rows, Matrix accumulated);

  /**
   * Copies x {@code [n, c]} into the columns {@code column … column + c − 1} of out {@code [n, ≥
   * column + c]}.
   */
  void copyIntoColumns(Matrix x, Matrix out, int column);

  /** {@code out = x + y}; equal shapes; out may be x or y. */
  void add(Matrix x, Matrix y, Matrix out);

  /** {@code x[i] += bias}; x {@code [n, columns]}, bias {@code [1, columns]}. */
  void addBias(Matrix x, Matrix bias);

  /**
   * Over each group of {@code weight.columns()} columns (a whole row, or one head of it): {@code
   * out = x·weight / sqrt(mean(x²) + eps)}. x and out {@code [n, groups·weight.columns()]}, weight
   * {@code [1, group]}; out may be x.
   */
  void rmsNorm(Matrix x, Matrix weight, float eps, Matrix out);

  /**
   * Gradient of {@link #rmsNorm} at the same x: dX is overwritten (may be dOut), the gradient of
   * weight {@code [1, group]} is added.
   */
  void rmsNormBackward(
      Matrix x, Matrix weight, float eps, Matrix dOut, Matrix dX, Matrix accumulatedDWeight);

  /**
   * Turns every head of x {@code [n, heads·headDim]}, in place, by the angles of {@code positions}
   * {@code [n]}.
   */
  void rope(Matrix x, Ints positions, RopeTable table);

  /** The inverse turn, in place: the gradient of {@link #rope}. */
  void ropeBackward(Matrix dX, Ints positions, RopeTable table);

  /**
   * {@code out = x·wᵀ}; x {@code [n, inputs]}, w {@code [outputs, inputs]}, out {@code [n,
   * outputs]}.
   */
  void linear(Matrix x, Weight w, Matrix out);

  /**
   * {@code dX = dOut·w}, overwritten, or added when {@code accumulate}; dOut {@code [n, outputs]},
   * dX {@code [n, inputs]}.
   */
  void linearBackwardInput(Matrix dOut, Weight w, Matrix dX, boolean accumulate);

  /**
   * {@code accumulatedDW += dOutᵀ·x}; dOut {@code [n, outputs]}, x {@code [n, inputs]},
   * accumulatedDW {@code [outputs, inputs]}.
   */
  void linearBackwardWeight(Matrix dOut, Matrix x, Matrix accumulatedDW);

  /** {@code out = silu(gate)·up}; equal shapes; out may be gate or up. */
  void swiglu(Matrix gate, Matrix up, Matrix out);

  /** Gradient of {@link #swiglu}: dGate and dUp are overwritten (dUp may be dOut). */
  void swigluBackward(Matrix gate, Matrix up, Matrix dOut, Matrix dGate, Matrix dUp);

  /**
   * Causal attention within each document of a packed batch. q {@code [n, queryColumns]}, k and v
   * {@code [n, keyValueColumns]}, already turned; out {@code [n, queryColumns]}; documentStarts
   * {@code [documents + 1]} ascending row numbers, first 0, last n. Row i sees the rows of its
   * document up to itself, and when {@code window > 0} only the last {@code window} of them (itself
   * included).
   */
  void causalAttention(
      Matrix q, Matrix k, Matrix v, int[] documentStarts, Heads heads, int window, Matrix out);

  /**
   * Decoding: the {@code n} rows of q are the positions {@code length − n … length − 1} of one
   * sequence whose keys and values are the first {@code length} rows of k and v (the cache, already
   * holding the new rows). Masks as in {@link #causalAttention}, and equal to it to the bit.
   */
  void cachedAttention(
      Matrix q, Matrix k, Matrix v, int length, Heads heads, int window, Matrix out);

  /**
   * Attention of draft blocks over their context and themselves. q, out {@code [blocks.rows(),
   * queryColumns]}; contextK, contextV {@code [context rows, keyValueColumns]}; blockK, blockV
   * {@code [blocks.rows(), keyValueColumns]}; logSumExp {@code [blocks.rows(), queryHeads]} is
   * overwritten with the natural log of each softmax denominator, for {@link
   * #blockAttentionBackward}.
   */
  void blockAttention(
      Matrix q,
      Matrix contextK,
      Matrix contextV,
      Matrix blockK,
      Matrix blockV,
      Blocks blocks,
      Heads heads,
      Matrix out,
      Matrix logSumExp);

  /**
   * Gradients of {@link #blockAttention}: dQ, dBlockK, dBlockV are overwritten, those of the
   * context are added to.
   */
  void blockAttentionBackward(
      BlockAttentionGradients gradients,
      Matrix q,
      Matrix contextK,
      Matrix contextV,
      Matrix blockK,
      Matrix blockV,
      Blocks blocks,
      Heads heads,
      Matrix out,
      Matrix logSumExp,
      Matrix dOut);

  /**
   * Where {@link #blockAttentionBackward} puts its results; shapes as the values they belong to.
   */
  record BlockAttentionGradients(
      Matrix dQ,
      Matrix accumulatedDContextK,
      Matrix accumulatedDContextV,
      Matrix dBlockK,
      Matrix dBlockV) {}

  /**
   * The vocabulary head and the loss, in chunks of at most {@code loss.chunkRows()} rows, forward
   * and backward in one pass: {@code z = x·headᵀ} never exists whole. x {@code [slots, hidden]}
   * normed draft states; head {@code [vocabulary, hidden]} frozen; teacherStates {@code [n,
   * hidden]} normed target states or null. dX {@code [slots, hidden]} is overwritten with the
   * gradient of {@code Σ m·w·l + m·capLambda·w·confidence}: not divided by anything, the division
   * by {@code Σ m·w} over the whole step comes after the sum. Null dX: forward only. The streak
   * weight is detached.
   */
  HeadLoss.Result headLoss(
      Matrix x, Weight head, Matrix teacherStates, HeadLoss loss, Workspace scratch, Matrix dX);

  /**
   * Index of the largest value of each row (lowest index on ties); x {@code [n, columns]}, result
   * {@code [n]}.
   */
  int[] argmaxRows(Matrix x);

  /** Whether every value is finite. */
  boolean allFinite(Matrix x);
}
