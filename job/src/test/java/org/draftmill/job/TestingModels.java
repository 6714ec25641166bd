package org.draftmill.job;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.draftmill.compute.io.SafetensorsWriter;

/** Writes a Qwen3 model of random weights that is small enough to train beside in a second. */
public final class TestingModels {
  public static final int VOCABULARY = 48;

  private static final Shape TINY = new Shape(3, 16, 2, 8, 24);
  private static final Shape WIDE = new Shape(2, 64, 2, 32, 96);

  private TestingModels() {}

  private record Shape(int layers, int hidden, int heads, int headDim, int intermediate) {}

  /** A model folder whose tokenizer uses all ids but the last, so that is the mask token. */
  public static Path tiny(Path folder) throws IOException {
    return write(folder, TINY, -1);
  }

  /** The same with two layers of width 64. */
  public static Path wide(Path folder) throws IOException {
    return write(folder, WIDE, -1);
  }

  /**
   * The same with a vocabulary head of its own, and one token whose embedding is not a number: so
   * is every state of a text that holds it.
   */
  public static Path poisoned(Path folder, int token) throws IOException {
    return write(folder, TINY, token);
  }

  private static Path write(Path folder, Shape shape, int poison) throws IOException {
    final int hidden = shape.hidden();
    final int queries = shape.heads() * shape.headDim();
    Files.createDirectories(folder);
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": %d,
         "hidden_size": %d, "num_hidden_layers": %d, "num_attention_heads": %d,
         "num_key_value_heads": 1, "head_dim": %d, "intermediate_size": %d, "hidden_act": "silu",
         "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "rope_scaling": null,
         "max_position_embeddings": 256, "attention_bias": false, "tie_word_embeddings": %s,
         "use_sliding_window": false, "torch_dtype": "float32", "bos_token_id": null,
         "eos_token_id": 0}
        """
            .formatted(
                VOCABULARY,
                hidden,
                shape.layers(),
                shape.heads(),
                shape.headDim(),
                shape.intermediate(),
                poison < 0));
    StringBuilder vocabulary = new StringBuilder();
    for (int id = 0; id < VOCABULARY - 1; id++) {
      vocabulary.append(id == 0 ? "" : ", ").append("\"t").append(id).append("\": ").append(id);
    }
    Files.writeString(
        folder.resolve("tokenizer.json"),
        "{\"model\": {\"vocab\": {" + vocabulary + "}}, \"added_tokens\": []}");

    Random random = new Random(5);
    SafetensorsWriter writer = new SafetensorsWriter();
    float[] embedding = values(random, VOCABULARY * hidden);
    if (poison >= 0) {
      writer.floats("lm_head.weight", embedding.clone(), VOCABULARY, hidden);
      Arrays.fill(embedding, poison * hidden, (poison + 1) * hidden, Float.NaN);
    }
    writer.floats("model.embed_tokens.weight", embedding, VOCABULARY, hidden);
    for (int layer = 0; layer < shape.layers(); layer++) {
      String prefix = "model.layers." + layer + ".";
      ones(writer, prefix + "input_layernorm.weight", hidden);
      ones(writer, prefix + "post_attention_layernorm.weight", hidden);
      matrix(writer, random, prefix + "self_attn.q_proj.weight", queries, hidden);
      matrix(writer, random, prefix + "self_attn.k_proj.weight", shape.headDim(), hidden);
      matrix(writer, random, prefix + "self_attn.v_proj.weight", shape.headDim(), hidden);
      matrix(writer, random, prefix + "self_attn.o_proj.weight", hidden, queries);
      ones(writer, prefix + "self_attn.q_norm.weight", shape.headDim());
      ones(writer, prefix + "self_attn.k_norm.weight", shape.headDim());
      matrix(writer, random, prefix + "mlp.gate_proj.weight", shape.intermediate(), hidden);
      matrix(writer, random, prefix + "mlp.up_proj.weight", shape.intermediate(), hidden);
      matrix(writer, random, prefix + "mlp.down_proj.weight", hidden, shape.intermediate());
    }
    ones(writer, "model.norm.weight", hidden);
    writer.write(folder.resolve("model.safetensors"));
    return folder;
  }

  private static void matrix(
      SafetensorsWriter writer, Random random, String name, int rows, int columns) {
    writer.floats(name, values(random, rows * columns), rows, columns);
  }

  private static float[] values(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) (0.2 * random.nextGaussian());
    }
    return values;
  }

  private static void ones(SafetensorsWriter writer, String name, int size) {
    float[] values = new float[size];
    java.util.Arrays.fill(values, 1f);
    writer.floats(name, values, size);
  }
}
