package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Heads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TargetConfigTest {
  private static final String COMMON =
      "\"hidden_size\": 64, \"intermediate_size\": 96, \"num_hidden_layers\": 4, \"vocab_size\": 160,"
          + " \"num_attention_heads\": 4, \"max_position_embeddings\": 256";

  @TempDir Path folder;

  @Test
  void readsTheDemo() {
    TargetConfig config = TargetConfig.read(TestingTargets.demo());
    assertThat(config.family()).isEqualTo(Family.QWEN3);
    assertThat(config.heads()).isEqualTo(new Heads(8, 4, 32));
    assertThat(config.layers()).isEqualTo(6);
    assertThat(config.tiedHead()).isTrue();
    assertThat(config.dtype()).isEqualTo(DType.BF16);
    assertThat(config.endOfText()).as("of generation_config.json").containsExactly(2044, 2046);
    assertThat(config.beginOfText()).hasValue(2044);
    assertThat(config.maxPositions()).isEqualTo(512);
    assertThat(config.rope()).isEqualTo(new Rope(10000, new Rope.Unscaled()));
  }

  @Test
  void readsBothLayoutsOfTheRotaryEmbeddingAlike() {
    String values =
        "\"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 64, ";
    TargetConfig older =
        llama("\"rope_theta\": 5e5, \"rope_scaling\": {" + values + "\"type\": \"llama3\"}");
    TargetConfig newer =
        llama(
            "\"rope_parameters\": {" + values + "\"rope_theta\": 5e5, \"rope_type\": \"llama3\"}");
    Rope expected = new Rope(5e5, new Rope.Llama3(8, 1, 4, 64));
    assertThat(older.rope()).isEqualTo(expected);
    assertThat(newer.rope()).isEqualTo(expected);
    assertThat(llama("\"rope_theta\": 2e4, \"rope_scaling\": null").rope())
        .isEqualTo(new Rope(2e4, new Rope.Unscaled()));
    assertThat(llama("\"rope_scaling\": {\"type\": \"linear\", \"factor\": 4}").rope())
        .isEqualTo(new Rope(1e4, new Rope.Linear(4)));
  }

  @Test
  void stretchesOnlyLongWavesForLlama3() {
    Rope.Llama3 scaling = new Rope.Llama3(8, 1, 4, 8192);
    double fast = 2 * Math.PI * 5 / 8192;
    double slow = 2 * Math.PI * 0.5 / 8192;
    double between = 2 * Math.PI * 2.5 / 8192;
    assertThat(scaling.apply(fast)).isEqualTo(fast);
    assertThat(scaling.apply(slow)).isCloseTo(slow / 8, within(1e-15));
    assertThat(scaling.apply(between)).isCloseTo(between * (0.5 + 0.5 / 8), within(1e-15));
  }

  @Test
  void findsTheWindowOfEveryLayer() {
    assertThat(read("Mistral", "\"sliding_window\": 7").windows()).containsExactly(7, 7, 7, 7);
    assertThat(read("Mistral", "\"sliding_window\": null").windows()).containsExactly(0, 0, 0, 0);
    assertThat(read("Mistral", "\"bos_token_id\": 1").windows())
        .as("without the key, as Hugging Face does")
        .containsExactly(4096, 4096, 4096, 4096);
    assertThat(read("Qwen2", "\"sliding_window\": 7, \"use_sliding_window\": false").windows())
        .containsExactly(0, 0, 0, 0);
    String used = "\"sliding_window\": 7, \"use_sliding_window\": true";
    assertThat(read("Qwen2", used + ", \"max_window_layers\": 3").windows())
        .containsExactly(0, 0, 0, 7);
    assertThat(read("Qwen2", used).windows()).containsExactly(0, 0, 0, 0);
    String full = "\"full_attention\"";
    String slides = "\"sliding_attention\"";
    assertThat(
            read("Qwen3", used + ", \"layer_types\": " + List.of(full, slides, slides, full))
                .windows())
        .containsExactly(0, 7, 7, 0);
  }

  @Test
  void knowsWhereBiasesAre() {
    assertThat(read("Qwen2", "\"eos_token_id\": null").biases())
        .isEqualTo(new TargetConfig.Biases(true, false));
    assertThat(read("Llama", "\"attention_bias\": true").biases())
        .isEqualTo(new TargetConfig.Biases(true, true));
    assertThat(read("Mistral", "\"attention_bias\": true").biases())
        .isEqualTo(new TargetConfig.Biases(false, false));
  }

  @Test
  void takesEndOfTextFromTheModelWhereGenerationHasNone() throws IOException {
    Files.writeString(folder.resolve(TargetConfig.GENERATION_CONFIG), "{\"do_sample\": false}");
    assertThat(llama("\"eos_token_id\": 2").endOfText()).containsExactly(2);
    assertThat(llama("\"eos_token_id\": [2, 5]").endOfText()).containsExactly(2, 5);
    assertThat(llama("\"eos_token_id\": null").endOfText()).isEmpty();
    assertThatThrownBy(() -> llama("\"eos_token_id\": 160"))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll("config.json", "eos_token_id", "160");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`\"hidden_act\": \"gelu\"` | hidden_act | gelu",
        "`\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4}` | yarn | llama3",
        "`\"rope_scaling\": {\"full_attention\": {}}` | rope_type | per-layer",
        "`\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 0}` | factor | positive",
        "`\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4, \"high_freq_factor\": 4}` | low_freq_factor | 4.0",
        "`\"rope_theta\": -1` | rope_theta | -1",
        "`\"partial_rotary_factor\": 0.5` | partial_rotary_factor | 0.5",
        "`\"quantization_config\": {}` | quantized | bfloat16",
        "`\"mlp_bias\": true` | mlp_bias | not supported",
        "`\"dtype\": \"float8_e4m3fn\"` | dtype | float8_e4m3fn",
        "`\"head_dim\": 15` | 15 | even",
        "`\"num_key_value_heads\": 3` | 3 | multiple",
        "`\"num_key_value_heads\": 8` | num_key_value_heads | 8",
        "`\"rms_norm_eps\": 0` | rms_norm_eps | 0",
        "`\"tie_word_embeddings\": \"yes\"` | tie_word_embeddings | yes",
        "`\"layer_types\": [\"full_attention\"]` | layer_types | 4 layers",
        "`\"layer_types\": [\"a\", \"b\", \"c\", \"d\"]` | layer_types | 'a'",
        "`\"layer_types\": [\"sliding_attention\", \"b\", \"c\", \"d\"]` | sliding_window | in use",
      })
  void refusesWhatItCannotRun(String setting, String place, String found) {
    assertThatThrownBy(() -> llama(setting))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll("config.json", place, found);
  }

  @Test
  void namesAMissingKey() throws IOException {
    Files.writeString(
        folder.resolve(TargetConfig.CONFIG), "{\"architectures\": [\"LlamaForCausalLM\"]}");
    assertThatThrownBy(() -> TargetConfig.read(folder))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll("config.json", "hidden_size");
  }

  @ParameterizedTest
  @CsvSource({
    "qwen3-moe, Qwen3MoeForCausalLM",
    "qwen35-hybrid, Qwen3_5ForConditionalGeneration",
  })
  void refusesOtherArchitecturesByName(String model, String architecture) {
    assertThatThrownBy(() -> TargetConfig.read(TestingTargets.folder(model)))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(architecture, "LlamaForCausalLM", "Qwen3ForCausalLM");
  }

  @Test
  void flippedBitsAreReadOrRefused() throws IOException {
    byte[] good = Files.readAllBytes(TestingTargets.demo().resolve(TargetConfig.CONFIG));
    Random random = new Random(13);
    int refused = 0;
    for (int round = 0; round < 600; round++) {
      byte[] bad = good.clone();
      for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      Files.write(folder.resolve(TargetConfig.CONFIG), bad);
      try {
        TargetConfig.read(folder);
      } catch (InputException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(60, 600);
  }

  private TargetConfig llama(String setting) {
    return read("Llama", setting);
  }

  private TargetConfig read(String family, String setting) {
    String json =
        "{\"architectures\": [\"%sForCausalLM\"], %s, %s}".formatted(family, COMMON, setting);
    try {
      Files.writeString(folder.resolve(TargetConfig.CONFIG), json);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return TargetConfig.read(folder);
  }
}
