package org.draftmill.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.draftmill.compute.io.SafetensorsWriter;
import org.draftmill.compute.io.TensorType;

/** A target of the Qwen3 kind with random weights in bf16: its speed is that of a trained one. */
final class RandomTarget {
  private static final int BLOCK = 1 << 20; // values that are drawn, and repeated

  /** What the model's widths are. */
  record Shape(
      int layers,
      int hidden,
      int queryHeads,
      int keyHeads,
      int headDim,
      int inner,
      int vocabulary,
      int longest) {
    /** Of Qwen3-8B, with as many of its 36 layers as are wanted. */
    static Shape large(int layers) {
      return new Shape(layers, 4096, 32, 8, 128, 12_288, 151_936, 40_960);
    }

    static Shape tiny(int layers) {
      return new Shape(layers, 64, 4, 2, 16, 96, 160, 512);
    }
  }

  private final Shape shape;
  private final SafetensorsWriter writer = new SafetensorsWriter();
  private final ByteBuffer values = ByteBuffer.allocate(2 * BLOCK).order(ByteOrder.LITTLE_ENDIAN);

  private RandomTarget(Shape shape) {
    this.shape = shape;
    Random random = new Random(7);
    while (values.hasRemaining()) {
      int bits = Float.floatToRawIntBits((float) (0.02 * random.nextGaussian()));
      values.putShort((short) (bits >>> 16));
    }
  }

  /** Writes a model folder, but for a tokenizer. */
  static void write(Path folder, Shape shape) throws IOException {
    Files.createDirectories(folder);
    new RandomTarget(shape).writeWeights(folder.resolve("model.safetensors"));
    Files.writeString(
        folder.resolve("config.json"),
        """
        {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_act": "silu", "torch_dtype": "bfloat16",
         "num_hidden_layers": %d, "hidden_size": %d, "num_attention_heads": %d, "num_key_value_heads": %d,
         "head_dim": %d, "intermediate_size": %d, "vocab_size": %d, "max_position_embeddings": %d,
         "rms_norm_eps": 1e-06, "rope_theta": 1000000, "attention_bias": false, "tie_word_embeddings": false}
        """
            .formatted(
                shape.layers,
                shape.hidden,
                shape.queryHeads,
                shape.keyHeads,
                shape.headDim,
                shape.inner,
                shape.vocabulary,
                shape.longest));
  }

  private void writeWeights(Path file) throws IOException {
    tensor("model.embed_tokens.weight", shape.vocabulary, shape.hidden);
    tensor("model.norm.weight", shape.hidden);
    tensor("lm_head.weight", shape.vocabulary, shape.hidden);
    int queries = shape.queryHeads * shape.headDim;
    int keys = shape.keyHeads * shape.headDim;
    for (int layer = 0; layer < shape.layers; layer++) {
      String name = "model.layers." + layer + ".";
      tensor(name + "input_layernorm.weight", shape.hidden);
      tensor(name + "post_attention_layernorm.weight", shape.hidden);
      tensor(name + "self_attn.q_norm.weight", shape.headDim);
      tensor(name + "self_attn.k_norm.weight", shape.headDim);
      tensor(name + "self_attn.q_proj.weight", queries, shape.hidden);
      tensor(name + "self_attn.k_proj.weight", keys, shape.hidden);
      tensor(name + "self_attn.v_proj.weight", keys, shape.hidden);
      tensor(name + "self_attn.o_proj.weight", shape.hidden, queries);
      tensor(name + "mlp.gate_proj.weight", shape.inner, shape.hidden);
      tensor(name + "mlp.up_proj.weight", shape.inner, shape.hidden);
      tensor(name + "mlp.down_proj.weight", shape.hidden, shape.inner);
    }
    writer.write(file);
  }

  private void tensor(String name, long... shapeOf) {
    long count = 1;
    for (long dimension : shapeOf) {
      count *= dimension;
    }
    final long bytes = 2 * count;
    writer.tensor(
        name,
        TensorType.BF16,
        shapeOf,
        sink -> {
          for (long at = 0, piece; at < bytes; at += piece) {
            piece = Math.min(values.capacity(), bytes - at);
            sink.append(values.duplicate().clear().limit((int) piece));
          }
        });
  }
}
