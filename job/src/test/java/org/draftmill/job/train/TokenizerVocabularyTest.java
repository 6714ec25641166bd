package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizerVocabularyTest {
  @TempDir Path dir;

  @Test
  void theDemosTokenizerNamesItsMaskToken() {
    TokenizerVocabulary tokenizer = TokenizerVocabulary.read(Path.of("..", "demo", "target"));

    assertThat(tokenizer.maskToken()).hasValue(2047);
    assertThat(tokenizer.uses(2043)).isTrue();
    assertThat(tokenizer.uses(2048)).isFalse();
  }

  @Test
  void vocabulariesOfPairsHaveTheirPlaceAsId() throws Exception {
    write("tokenizer.json", "{\"model\": {\"vocab\": [[\"a\", -1.0], [\"b\", -2.0]]}}");

    TokenizerVocabulary tokenizer = TokenizerVocabulary.read(dir);

    assertThat(tokenizer.uses(1)).isTrue();
    assertThat(tokenizer.uses(2)).isFalse();
    assertThat(tokenizer.maskToken()).isEmpty();
  }

  @Test
  void aTokenizerThatIsMissingOrNoJsonIsNamed() throws Exception {
    assertThatThrownBy(() -> TokenizerVocabulary.read(dir))
        .isInstanceOf(org.draftmill.corpus.InputException.class)
        .hasMessageContaining("tokenizer.json");
    write("tokenizer.json", "{");
    assertThatThrownBy(() -> TokenizerVocabulary.read(dir))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("tokenizer.json");
  }

  private void write(String name, String content) throws Exception {
    Files.writeString(dir.resolve(name), content);
  }
}
