package org.draftmill.compute.drafter;

import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.RopeTable;

/**
 * The shape of a draft model and what ties it to its target. It is of the Qwen3 kind whatever the
 * target is: grouped-query attention with norms on queries and keys, no biases, SwiGLU.
 *
 * @param hiddenSize H, that of the target, whose embedding and vocabulary head it borrows
 * @param intermediateSize width of the MLP
 * @param heads of its attention
 * @param vocabularySize rows of the target's embedding
 * @param targetLayers decoder layers of the target
 * @param taps ids of the tapped target layers, from 0, ascending: the state <em>after</em> such a
 *     layer is read
 * @param blockSize B: the anchor and B − 1 drafted tokens
 * @param maskToken id whose embedding stands for a token to be drafted
 * @param slidingLayers one entry a layer: whether it is {@code sliding_attention}
 * @param slidingWindow window of the sliding layers, 0 when there are none
 * @param rmsNormEps of all norms
 * @param rope the rotary embedding of all layers
 * @param serving what a serving engine reads besides
 */
public record DrafterConfig(
    int hiddenSize,
    int intermediateSize,
    Heads heads,
    int vocabularySize,
    int targetLayers,
    List<Integer> taps,
    int blockSize,
    int maskToken,
    List<Boolean> slidingLayers,
    int slidingWindow,
    float rmsNormEps,
    RopeTable rope,
    Serving serving) {

  /**
   * Entries of {@code config.json} that training does not use but a serving engine does.
   *
   * @param ropeTheta base of the rotary embedding
   * @param ropeScaling JSON object of its long-context scaling, or null
   * @param maxPositionEmbeddings longest sequence
   * @param bosTokenId JSON value, or null
   * @param eosTokenId JSON value (a number or a list), or null
   */
  public record Serving(
      double ropeTheta,
      String ropeScaling,
      int maxPositionEmbeddings,
      String bosTokenId,
      String eosTokenId) {}

  public DrafterConfig {
    taps = List.copyOf(taps);
    slidingLayers = List.copyOf(slidingLayers);
    require(hiddenSize > 0, "hidden_size", hiddenSize, "must be positive");
    require(intermediateSize > 0, "intermediate_size", intermediateSize, "must be positive");
    require(!slidingLayers.isEmpty(), "num_hidden_layers", 0, "must be at least 1");
    require(blockSize >= 2, "block_size", blockSize, "must be at least 2");
    require(rmsNormEps > 0, "rms_norm_eps", rmsNormEps, "must be positive");
    require(
        maskToken >= 0 && maskToken < vocabularySize,
        "mask_token_id",
        maskToken,
        "must be one of the " + vocabularySize + " rows of the target's embedding");
    require(
        heads.headDim() % 2 == 0 && rope.headDim() == heads.headDim(),
        "head_dim",
        heads.headDim(),
        "must be even and that of the rotary embedding, " + rope.headDim());
    require(!taps.isEmpty(), "target_layer_ids", taps, "must name at least one layer");
    for (int i = 0; i < taps.size(); i++) {
      require(
          taps.get(i) >= (i == 0 ? 0 : taps.get(i - 1) + 1) && taps.get(i) < targetLayers,
          "target_layer_ids",
          taps,
          "must ascend and lie between 0 and " + (targetLayers - 1));
    }
    require(
        slidingWindow > 0 == slidingLayers.contains(true),
        "sliding_window",
        slidingWindow,
        "must be positive exactly when some layer is sliding_attention");
  }

  /** d, the number of its own layers. */
  public int layers() {
    return slidingLayers.size();
  }

  /** Columns of the taps of one token, K·H. */
  public int tapColumns() {
    return taps.size() * hiddenSize;
  }

  /** B − 1, the tokens that a block drafts. */
  public int slotsPerBlock() {
    return blockSize - 1;
  }

  /** The window of a layer, 0 when it sees everything. */
  public int window(int layer) {
    return slidingLayers.get(layer) ? slidingWindow : 0;
  }

  private static void require(boolean condition, String key, Object found, String demand) {
    if (!condition) {
      throw new InputException(
          "The drafter's " + key + " is " + found + ", but it " + demand + ".");
    }
  }
}
