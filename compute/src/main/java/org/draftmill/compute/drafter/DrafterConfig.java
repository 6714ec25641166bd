package org.draftmill.compute.drafter;

import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetConfig;

/**
 * The shape of a draft model and what ties it to its target. It is of the Qwen3 kind whatever the
 * target is: grouped-query attention with norms on queries and keys, no biases, SwiGLU.
 *
 * @param hiddenSize H, that of the target, whose embedding and vocabulary head it borrows
 * @param intermediateSize width of the MLP
 * @param heads of its attention
 * @param vocabularySize rows of the target's embedding
 * @param targetLayers decoder layers of the target
 * @param taps which of the target's hidden states it reads
 * @param blockSize B: the anchor and B − 1 drafted tokens
 * @param maskToken id whose embedding stands for a token to be drafted
 * @param slidingLayers one entry a layer: whether it is {@code sliding_attention}
 * @param slidingWindow window of the sliding layers, 0 when there are none
 * @param rmsNormEps of all norms
 * @param rope the rotary embedding of all layers, that of the target
 * @param maxPositions longest sequence that the target was made for
 * @param beginOfText the target's, if it has one
 * @param endOfText the target's
 */
public record DrafterConfig(
    int hiddenSize,
    int intermediateSize,
    Heads heads,
    int vocabularySize,
    int targetLayers,
    Taps taps,
    int blockSize,
    int maskToken,
    List<Boolean> slidingLayers,
    int slidingWindow,
    float rmsNormEps,
    Rope rope,
    int maxPositions,
    OptionalInt beginOfText,
    List<Integer> endOfText) {

  public DrafterConfig {
    taps.requireWithin(targetLayers);
    slidingLayers = List.copyOf(slidingLayers);
    endOfText = List.copyOf(endOfText);
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
    require(heads.headDim() % 2 == 0, "head_dim", heads.headDim(), "must be even");
    require(
        slidingWindow > 0 == slidingLayers.contains(true),
        "sliding_window",
        slidingWindow,
        "must be positive exactly when some layer is sliding_attention");
  }

  /**
   * What a user chooses of a drafter; the rest follows from the target.
   *
   * @param taps which hidden states of the target it reads
   * @param maskToken see {@link MaskToken}
   * @param slidingLayers one entry a layer, in order
   * @param slidingWindow 0 when no layer slides
   */
  public record Choices(
      Taps taps, int blockSize, int maskToken, List<Boolean> slidingLayers, int slidingWindow) {

    /** {@code layers} layers that see everything. */
    public static Choices full(Taps taps, int layers, int blockSize, int maskToken) {
      return new Choices(
          taps, blockSize, maskToken, Collections.nCopies(Math.max(0, layers), false), 0);
    }
  }

  /** The drafter of a target, with layers of the target's widths. */
  public static DrafterConfig of(TargetConfig target, Choices choices) {
    return new DrafterConfig(
        target.hidden(),
        target.intermediate(),
        target.heads(),
        target.vocabulary(),
        target.layers(),
        choices.taps(),
        choices.blockSize(),
        choices.maskToken(),
        choices.slidingLayers(),
        choices.slidingWindow(),
        target.normEps(),
        target.rope(),
        target.maxPositions(),
        target.beginOfText(),
        target.endOfText());
  }

  /**
   * Throws an {@link InputException} unless this drafter can work with that target.
   *
   * @param place where the drafter came from, for the message
   */
  public DrafterConfig requireFits(TargetConfig target, Path place) {
    requireSame(place, "hidden_size", hiddenSize, target.hidden());
    requireSame(place, "vocab_size", vocabularySize, target.vocabulary());
    requireSame(place, "num_target_layers", targetLayers, target.layers());
    return this;
  }

  private static void requireSame(Path place, String key, int found, int ofTarget) {
    if (found != ofTarget) {
      throw new InputException(
          "%s: the drafter's %s is %d, but that of the target is %d; it was trained for another target."
              .formatted(place, key, found, ofTarget));
    }
  }

  /** d, the number of its own layers. */
  public int layers() {
    return slidingLayers.size();
  }

  /** Columns of the taps of one token, K·H. */
  public int tapColumns() {
    return taps.count() * hiddenSize;
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
