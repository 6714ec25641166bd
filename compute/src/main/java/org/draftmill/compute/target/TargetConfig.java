package org.draftmill.compute.target;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.InputFile;
import org.draftmill.compute.io.JsonConfig;
import org.draftmill.compute.ops.Heads;

/**
 * What the {@code config.json} of a Hugging Face model folder says, checked.
 *
 * @param folder of the model
 * @param family which decoder it is
 * @param vocabulary V, rows of the embedding (a tokenizer may use fewer)
 * @param hidden H
 * @param layers L, decoder layers
 * @param intermediate columns of the MLP
 * @param heads of the attention
 * @param normEps of every RMS norm
 * @param rope rotary embedding
 * @param windows {@code [layers]}: how many positions a layer sees, itself included; 0 for all
 * @param biases which projections have them
 * @param tiedHead whether the vocabulary head is the embedding
 * @param maxPositions longest sequence that the model was made for
 * @param dtype of the stored weights
 * @param beginOfText token that opens a text, if there is one
 * @param endOfText tokens that end a text, from {@code generation_config.json} where it has them
 */
public record TargetConfig(
    Path folder,
    Family family,
    int vocabulary,
    int hidden,
    int layers,
    int intermediate,
    Heads heads,
    float normEps,
    Rope rope,
    List<Integer> windows,
    Biases biases,
    boolean tiedHead,
    int maxPositions,
    DType dtype,
    OptionalInt beginOfText,
    List<Integer> endOfText) {

  /**
   * @param queryKeyValue on the projections to queries, keys and values
   * @param output on the projection back from the heads
   */
  public record Biases(boolean queryKeyValue, boolean output) {}

  static final String CONFIG = "config.json";
  static final String GENERATION_CONFIG = "generation_config.json";

  private static final int MAX_WIDTH = 1 << 20;
  private static final int MAX_LAYERS = 1 << 12;

  public TargetConfig {
    windows = List.copyOf(windows);
    endOfText = List.copyOf(endOfText);
  }

  /** Reads the configuration of the model in {@code folder}. */
  public static TargetConfig read(Path folder) {
    JsonConfig config = JsonConfig.read(folder.resolve(CONFIG));
    Family family = Family.read(config);
    refuseUnsupported(config);
    int hidden = config.integer("hidden_size", 1, MAX_WIDTH);
    int layers = config.integer("num_hidden_layers", 1, MAX_LAYERS);
    int vocabulary = config.integer("vocab_size", 1, Integer.MAX_VALUE);
    Heads heads = heads(config, family, hidden);
    return new TargetConfig(
        folder,
        family,
        vocabulary,
        hidden,
        layers,
        config.integer("intermediate_size", 1, MAX_WIDTH),
        heads,
        normEps(config),
        Rope.read(config),
        Arrays.stream(family.windows(config, layers)).boxed().toList(),
        new Biases(family.queryKeyValueBias(config), family.outputBias(config)),
        config.flag("tie_word_embeddings", false),
        config.integer("max_position_embeddings", 1, Integer.MAX_VALUE),
        dtype(config),
        beginOfText(config, vocabulary),
        endOfText(config, vocabulary));
  }

  private static void refuseUnsupported(JsonConfig config) {
    String activation = config.optionalText("hidden_act").orElse("silu");
    if (!activation.equals("silu")) {
      throw new InputException(
          "%s: 'hidden_act' is '%s'; only 'silu' is supported."
              .formatted(config.path(), activation));
    }
    if (config.has("quantization_config")) {
      throw new InputException(
          "%s: the weights are quantized ('quantization_config'); give the model in bfloat16, float16 or float32."
              .formatted(config.path()));
    }
    if (config.flag("mlp_bias", false)) {
      throw new InputException(
          "%s: 'mlp_bias' is true; MLPs with biases are not supported.".formatted(config.path()));
    }
  }

  /**
   * The same, once it is clear that a device can compute it.
   *
   * @param device its name
   * @param largestHead most values of a head that its attention takes
   * @throws InputException naming this model's file and what is too large
   */
  public TargetConfig requireHeads(String device, int largestHead) {
    if (heads.headDim() > largestHead) {
      throw new InputException(
          "%s: the attention heads have %d values ('head_dim', or else 'hidden_size' by 'num_attention_heads'), and the device '%s' takes at most %d: use the device 'cpu'."
              .formatted(folder.resolve(CONFIG), heads.headDim(), device, largestHead));
    }
    return this;
  }

  private static Heads heads(JsonConfig config, Family family, int hidden) {
    int queries = config.integer("num_attention_heads", 1, MAX_WIDTH);
    int keyValues = config.integer("num_key_value_heads", 1, queries, queries);
    int headDim = config.integer("head_dim", 1, MAX_WIDTH, family.defaultHeadDim(hidden, queries));
    if (queries % keyValues != 0 || headDim < 2 || headDim % 2 != 0) {
      throw new InputException(
          "%s: %d query heads over %d key/value heads of %d columns: the first must be a multiple of the second, the columns even."
              .formatted(config.path(), queries, keyValues, headDim));
    }
    return new Heads(queries, keyValues, headDim);
  }

  private static float normEps(JsonConfig config) {
    double eps = config.number("rms_norm_eps", 1e-6);
    if (!(eps > 0 && eps < 1)) {
      throw new InputException(
          "%s: 'rms_norm_eps' is %s, which must lie between 0 and 1."
              .formatted(config.path(), eps));
    }
    return (float) eps;
  }

  private static DType dtype(JsonConfig config) {
    String name =
        config
            .optionalText("dtype")
            .or(() -> config.optionalText("torch_dtype"))
            .orElse(DType.F32.configName());
    return Arrays.stream(DType.values())
        .filter(dtype -> dtype.configName().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new InputException(
                    "%s: 'dtype' is '%s'; supported are %s."
                        .formatted(
                            config.path(),
                            name,
                            Arrays.stream(DType.values())
                                .map(DType::configName)
                                .collect(Collectors.joining(", ")))));
  }

  private static OptionalInt beginOfText(JsonConfig config, int vocabulary) {
    return config.has("bos_token_id")
        ? OptionalInt.of(config.integer("bos_token_id", 0, vocabulary - 1))
        : OptionalInt.empty();
  }

  private static List<Integer> endOfText(JsonConfig config, int vocabulary) {
    Path generation = config.path().resolveSibling(GENERATION_CONFIG);
    JsonConfig source = config;
    if (InputFile.isNamed(generation)) {
      JsonConfig found = JsonConfig.read(generation);
      source = found.has("eos_token_id") ? found : config;
    }
    int[] ids = source.has("eos_token_id") ? source.integers("eos_token_id") : new int[0];
    for (int id : ids) {
      if (id < 0 || id >= vocabulary) {
        throw new InputException(
            "%s: 'eos_token_id' names %d, but the vocabulary has %d tokens."
                .formatted(source.path(), id, vocabulary));
      }
    }
    return Arrays.stream(ids).boxed().toList();
  }

  /** Parameters of one decoder layer. */
  public long parametersPerLayer() {
    long attention =
        (long) hidden * (2L * heads.queryColumns() + 2L * heads.keyValueColumns())
            + (biases.queryKeyValue() ? heads.queryColumns() + 2L * heads.keyValueColumns() : 0)
            + (biases.output() ? hidden : 0)
            + (family.queryKeyNorm() ? 2L * heads.headDim() : 0);
    return attention + 3L * hidden * intermediate + 2L * hidden;
  }

  /** Parameters of the whole model. */
  public long parameters() {
    long table = (long) vocabulary * hidden;
    return (tiedHead ? table : 2 * table) + layers * parametersPerLayer() + hidden;
  }
}
