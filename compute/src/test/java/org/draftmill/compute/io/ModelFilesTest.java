package org.draftmill.compute.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelFilesTest {
  @TempDir Path folder;

  @Test
  void readsASingleFile() throws IOException {
    new SafetensorsWriter().longs("a", new long[] {1}, 1).write(folder.resolve(ModelFiles.SINGLE));
    try (ModelFiles files = ModelFiles.open(folder)) {
      assertThat(files.names()).containsExactly("a");
      assertThat(files.tensor("a").readLongs()).containsExactly(1);
      assertThatThrownBy(() -> files.tensor("b"))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("no tensor 'b'");
    }
  }

  @Test
  void opensOnlyTheShardsItNeeds() throws IOException {
    new SafetensorsWriter().longs("a", new long[] {1}, 1).write(folder.resolve("1.safetensors"));
    index("{\"weight_map\": {\"a\": \"1.safetensors\", \"b\": \"2.safetensors\"}}");
    try (ModelFiles files = ModelFiles.open(folder)) {
      assertThat(files.names()).containsExactly("a", "b");
      assertThat(files.tensor("a").readLongs()).containsExactly(1);
      assertThatThrownBy(() -> files.tensor("b"))
          .isInstanceOf(InputException.class)
          .hasMessageContainingAll("2.safetensors", "no such file");
    }
  }

  @Test
  void namesATensorThatItsShardLacks() throws IOException {
    new SafetensorsWriter().longs("a", new long[] {1}, 1).write(folder.resolve("1.safetensors"));
    index("{\"weight_map\": {\"b\": \"1.safetensors\"}}");
    try (ModelFiles files = ModelFiles.open(folder)) {
      assertThatThrownBy(() -> files.tensor("b"))
          .isInstanceOf(InputException.class)
          .hasMessageContainingAll("1.safetensors", "'b'");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../x.safetensors",
        "/x.safetensors",
        "a/x.safetensors",
        "..\\\\x.safetensors",
        "c:x.safetensors",
        "..",
        "",
        "x.bin"
      })
  void refusesShardsElsewhere(String name) throws IOException {
    index("{\"weight_map\": {\"a\": \"" + name + "\"}}");
    assertThatThrownBy(() -> ModelFiles.open(folder))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(ModelFiles.INDEX, "same folder");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "[]",
        "",
        "{\"weight_map\": 3}",
        "{\"weight_map\": {\"a\": 3}}",
        "{\"weight_map\": {\"a\": \"1.safetensors\", \"a\": \"1.safetensors\"}}",
        "{\"weight_map\": {}} {}"
      })
  void refusesABrokenIndex(String json) throws IOException {
    index(json);
    assertThatThrownBy(() -> ModelFiles.open(folder))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(ModelFiles.INDEX);
  }

  @Test
  void refusesDeepJson() throws IOException {
    index("{\"a\":".repeat(100_000));
    assertThatThrownBy(() -> ModelFiles.open(folder))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("nest");
  }

  @Test
  void saysWhatItLooksForInAnEmptyFolder() {
    assertThatThrownBy(() -> ModelFiles.open(folder))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(ModelFiles.SINGLE, ModelFiles.INDEX);
    assertThatThrownBy(() -> ModelFiles.open(folder.resolve("none")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("none");
  }

  private void index(String json) throws IOException {
    Files.writeString(folder.resolve(ModelFiles.INDEX), json);
  }
}
