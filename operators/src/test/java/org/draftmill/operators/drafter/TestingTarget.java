package org.draftmill.operators.drafter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.io.SafetensorsWriter;

/** As much of a target as a drafter needs: a configuration, an embedding and a vocabulary head. */
final class TestingTarget {
  static final int HIDDEN = 16;
  static final int VOCABULARY = 40;
  static final int LAYERS = 4;
  static final List<Integer> TAPS = List.of(1, 2);

  private TestingTarget() {}

  static Path write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"model_type": "qwen3", "hidden_size": %d, "num_hidden_layers": %d, "vocab_size": %d,
         "intermediate_size": 24, "num_attention_heads": 2, "num_key_value_heads": 1,
         "head_dim": 8, "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
         "max_position_embeddings": 256, "tie_word_embeddings": false, "dtype": "float32",
         "bos_token_id": 1, "eos_token_id": 2}
        """
            .formatted(HIDDEN, LAYERS, VOCABULARY));
    Random random = new Random(5);
    new SafetensorsWriter()
        .floats("model.embed_tokens.weight", normal(random, VOCABULARY), VOCABULARY, HIDDEN)
        .floats("model.norm.weight", normal(random, 1), HIDDEN)
        .floats("lm_head.weight", normal(random, VOCABULARY), VOCABULARY, HIDDEN)
        .write(folder.resolve("model.safetensors"));
    return folder;
  }

  private static float[] normal(Random random, int rows) {
    float[] values = new float[rows * HIDDEN];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
