package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.host.HalfPrecision;
import org.draftmill.compute.io.SafetensorsFile;
import org.draftmill.compute.io.SafetensorsWriter;
import org.draftmill.compute.io.TensorType;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DrafterExportTest {
  private static final DrafterConfig CONFIG = TestingDrafters.config(2, Taps.of(1, 4, 6), 4);

  @TempDir Path folder;

  private static float[] weights() {
    return new Initializer(3).weights(CONFIG, new ParameterLayout(CONFIG));
  }

  @Test
  void writesTheServingLayoutAndNothingElse() throws IOException {
    Path out = folder.resolve("export/step-00000012");
    DrafterExport.write(out, CONFIG, weights());
    assertThat(namesIn(out)).containsExactly("config.json", "model.safetensors");
    assertThat(namesIn(out.getParent())).containsExactly("step-00000012");
    try (SafetensorsFile file = SafetensorsFile.open(out.resolve("model.safetensors"))) {
      assertThat(file.tensors().values()).allMatch(tensor -> tensor.type() == TensorType.BF16);
      assertThat(file.tensors().keySet())
          .containsExactlyInAnyOrder(
              Stream.concat(
                      Stream.of("fc.weight", "hidden_norm.weight", "norm.weight"),
                      Stream.of("layers.0.", "layers.1.")
                          .flatMap(
                              layer ->
                                  Stream.of(
                                          "input_layernorm",
                                          "post_attention_layernorm",
                                          "self_attn.q_proj",
                                          "self_attn.k_proj",
                                          "self_attn.v_proj",
                                          "self_attn.o_proj",
                                          "self_attn.q_norm",
                                          "self_attn.k_norm",
                                          "mlp.gate_proj",
                                          "mlp.up_proj",
                                          "mlp.down_proj")
                                      .map(name -> layer + name + ".weight")))
                  .toArray(String[]::new));
      file.tensor("fc.weight").requireShape(20, 60);
      file.tensor("layers.0.self_attn.q_norm.weight").requireShape(6);
      file.tensor("layers.1.mlp.down_proj.weight").requireShape(20, 28);
      assertThat(file.metadata()).containsEntry("format", "pt");
    }
  }

  @Test
  void isReadBackRoundedToBfloat16() throws IOException {
    float[] weights = weights();
    DrafterExport.write(folder.resolve("a"), CONFIG, weights);
    DrafterExport.Exported exported = DrafterExport.read(folder.resolve("a"));
    assertThat(exported.config()).isEqualTo(CONFIG);
    for (int i = 0; i < weights.length; i++) {
      assertThat(exported.weights()[i])
          .isEqualTo(HalfPrecision.fromBFloat16(HalfPrecision.toBFloat16(weights[i])));
    }
    DrafterExport.verify(folder.resolve("a"), CONFIG, weights);
    weights[77] += 1;
    assertThatThrownBy(() -> DrafterExport.verify(folder.resolve("a"), CONFIG, weights))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("weight 77");
    assertThat(Initializer.copy(folder.resolve("a"), CONFIG)).isEqualTo(exported.weights());
  }

  @Test
  void replacesWhatWasThere() throws IOException {
    Path out = folder.resolve("latest");
    DrafterExport.write(out, CONFIG, new float[weights().length]);
    DrafterExport.write(out, CONFIG, weights());
    DrafterExport.verify(out, CONFIG, weights());
    assertThat(namesIn(folder)).containsExactly("latest");
  }

  @Test
  void anotherShapeCannotBeTheStart() throws IOException {
    DrafterExport.write(folder.resolve("a"), CONFIG, weights());
    assertThatThrownBy(
            () ->
                Initializer.copy(folder.resolve("a"), TestingDrafters.config(2, Taps.of(1, 4), 4)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("fc.weight is [20, 60]")
        .hasMessageContaining("[20, 40] is needed");
    assertThatThrownBy(
            () ->
                Initializer.copy(
                    folder.resolve("a"), TestingDrafters.config(3, Taps.of(1, 4, 6), 4)))
        .hasMessageContaining("layers");
  }

  @Test
  void refusesWhatServingEnginesRefuse() throws IOException {
    Path out = folder.resolve("a");
    DrafterExport.write(out, CONFIG, weights());
    String config = Files.readString(out.resolve("config.json"));
    assertRefused(out, config, "\"silu\"", "\"gelu\"", "'hidden_act' is 'gelu'");
    assertRefused(out, config, "[ 1, 4, 6 ]", "[ 1, 4, 8 ]", "layers 0 to 7");
    assertRefused(out, config, "[ 1, 4, 6 ]", "[ 1, 4 ]", "'fc.weight' has the shape [20, 60]");
    assertRefused(out, config, "[ 1, 4, 6 ]", "[ 4, 1, 6 ]", "do not ascend");
    assertRefused(out, config, "\"mask_token_id\" : 22", "\"mask_token_id\" : 23", "mask_token_id");
    assertRefused(out, config, "DFlashDraftModel\" ]", "Qwen3ForCausalLM\" ]", "architecture");
    assertRefused(out, config, "\"full_attention\",", "\"other\",", "'layer_types' names 'other'");
    Files.writeString(out.resolve("config.json"), config);
    new SafetensorsWriter()
        .floats("mask_hidden", new float[20], 20)
        .write(out.resolve("model.safetensors"));
    assertThatThrownBy(() -> DrafterExport.read(out))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("fc.weight");
  }

  @Test
  void refusesTensorsThatNoDrafterHas() throws IOException {
    Path out = folder.resolve("a");
    DrafterExport.write(out, CONFIG, weights());
    SafetensorsWriter writer = new SafetensorsWriter().floats("mask_hidden", new float[20], 20);
    for (ParameterLayout.Parameter parameter : new ParameterLayout(CONFIG).parameters()) {
      writer.floats(parameter.name(), new float[parameter.size()], parameter.shape());
    }
    writer.write(out.resolve("model.safetensors"));
    assertThatThrownBy(() -> DrafterExport.read(out))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("[mask_hidden]");
  }

  private static void assertRefused(
      Path out, String config, String text, String replacement, String message) throws IOException {
    assertThat(config).contains(text);
    Files.writeString(out.resolve("config.json"), config.replace(text, replacement));
    assertThatThrownBy(() -> DrafterExport.read(out))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(message);
  }

  @Test
  void theBlockSizeMayStandInEitherPlace() throws IOException {
    Path out = folder.resolve("a");
    DrafterExport.write(out, CONFIG, weights());
    Path file = out.resolve("config.json");
    String both = Files.readString(file);
    String old = "\n  \"block_size\" : 4,";
    String newer = "\n    \"block_size\" : 4,";
    assertThat(both).contains(old, newer);
    Files.writeString(file, both.replace(newer, ""));
    assertThat(DrafterExport.readConfig(out).blockSize()).isEqualTo(4);
    Files.writeString(file, both.replace(old, ""));
    assertThat(DrafterExport.readConfig(out).blockSize()).isEqualTo(4);
    Files.writeString(file, both.replace(old, old.replace('4', '5')));
    assertThatThrownBy(() -> DrafterExport.readConfig(out))
        .hasMessageContaining("'block_size' is 5 at the top but 4 in 'dflash_config'");
    Files.writeString(file, both.replace(old, "").replace(newer, ""));
    assertThatThrownBy(() -> DrafterExport.readConfig(out))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("has no 'block_size'");
  }

  @Test
  void slidingLayersAndLongContextsSurvive() throws IOException {
    DrafterConfig config =
        new DrafterConfig(
            32,
            48,
            new Heads(4, 2, 8),
            50,
            9,
            Taps.of(0, 8),
            16,
            49,
            List.of(true, false, true),
            7,
            1e-5f,
            new Rope(5e5, new Rope.Llama3(8, 1, 4, 8192)),
            131072,
            OptionalInt.empty(),
            List.of());
    DrafterExport.write(folder.resolve("a"), config, new float[new ParameterLayout(config).size()]);
    assertThat(DrafterExport.readConfig(folder.resolve("a"))).isEqualTo(config);
    String text = Files.readString(folder.resolve("a/config.json"));
    assertThat(text)
        .contains("\"sliding_window\" : 7")
        .contains("\"use_sliding_window\" : true")
        .contains("\"rope_type\" : \"llama3\"")
        .contains("\"rms_norm_eps\" : 1.0E-5")
        .contains("\"eos_token_id\" : null");
  }

  private static List<String> namesIn(Path directory) throws IOException {
    try (Stream<Path> content = Files.list(directory)) {
      return content.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }
}
