package org.draftmill.compute.target;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.draftmill.compute.InputException;

/**
 * Which hidden states of a target are handed to the drafter, as 0-based decoder layer ids in
 * ascending order. Tap {@code id} is the residual stream <em>after</em> decoder layer {@code id},
 * before any final norm.
 *
 * <p>Others count from the embedding: the state after layer {@code id} is {@code hidden_states[id +
 * 1]} of Hugging Face and auxiliary layer {@code id + 1} of vLLM and the speculators format. Only
 * {@link #toHiddenStateIndices} and {@link #ofHiddenStateIndices} convert between the two.
 *
 * @param layers ids, as in {@code target_layer_ids} of a drafter's {@code config.json}
 */
public record Taps(List<Integer> layers) {
  /** The option value that stands for {@link #spread}. */
  public static final String AUTO = "auto";

  public Taps {
    layers = List.copyOf(layers);
    if (layers.isEmpty()) {
      throw new InputException("The taps name no layer; one at least is needed.");
    }
    for (int i = 0; i < layers.size(); i++) {
      if (layers.get(i) < (i == 0 ? 0 : layers.get(i - 1) + 1)) {
        throw new InputException(
            "The taps %s do not ascend from 0 or higher; name each layer once, in order."
                .formatted(layers));
      }
    }
  }

  public static Taps of(int... layers) {
    return new Taps(IntStream.of(layers).boxed().toList());
  }

  /**
   * The default: {@code count} layers from the second to the third last, evenly spread: {@code id_i
   * = round(1 + i·(targetLayers − 4)/(count − 1))}, halves to even; a single tap is the layer
   * {@code targetLayers/2}.
   */
  public static Taps spread(int targetLayers, int count) {
    List<Integer> layers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      layers.add(
          count == 1
              ? targetLayers / 2
              : (int) Math.rint(1 + i * (targetLayers - 4.0) / (count - 1)));
    }
    if (layers.stream().distinct().count() < count || layers.get(count - 1) < layers.get(0)) {
      throw new InputException(
          "A target of %d layers cannot be tapped evenly at %d of them: name the layers as target.taps."
              .formatted(targetLayers, count));
    }
    return new Taps(layers).requireWithin(targetLayers);
  }

  /**
   * Reads the option {@code target.taps}: {@value #AUTO}, or ids separated by commas.
   *
   * @param draftLayers the number of taps that {@value #AUTO} chooses
   */
  public static Taps parse(String option, int targetLayers, int draftLayers) {
    if (option.strip().equals(AUTO)) {
      return spread(targetLayers, draftLayers);
    }
    List<Integer> layers = new ArrayList<>();
    for (String id : option.split(",", -1)) {
      try {
        layers.add(Integer.valueOf(id.strip()));
      } catch (NumberFormatException e) {
        throw new InputException(
            "target.taps is '%s', which is neither '%s' nor layer ids separated by commas."
                .formatted(option, AUTO),
            e);
      }
    }
    return new Taps(layers).requireWithin(targetLayers);
  }

  /** The same taps, or an {@link InputException} if the target has no such layer. */
  public Taps requireWithin(int targetLayers) {
    if (last() >= targetLayers) {
      throw new InputException(
          "The taps %s name the layer %d, but the target has the layers 0 to %d: change target.taps."
              .formatted(layers, last(), targetLayers - 1));
    }
    return this;
  }

  /** K, the number of tapped layers. */
  public int count() {
    return layers.size();
  }

  /** The highest tapped layer: those above it need not run. */
  public int last() {
    return layers.get(layers.size() - 1);
  }

  /** Place of {@code layer} among the taps, or −1. */
  int indexOf(int layer) {
    return layers.indexOf(layer);
  }

  /**
   * The ids in the convention that counts the embedding as 0 (Hugging Face {@code hidden_states},
   * vLLM, speculators): each is one higher.
   */
  public List<Integer> toHiddenStateIndices() {
    return layers.stream().map(id -> id + 1).toList();
  }

  /** The inverse of {@link #toHiddenStateIndices}. */
  public static Taps ofHiddenStateIndices(List<Integer> indices) {
    return new Taps(indices.stream().map(index -> index - 1).toList());
  }
}
