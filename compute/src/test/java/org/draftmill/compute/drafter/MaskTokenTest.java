package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalInt;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;

class MaskTokenTest {
  private static final OptionalInt NONE = OptionalInt.empty();

  @Test
  void theGivenIdComesFirstThenTheTokenizersThenAFreeRow() {
    assertThat(MaskToken.resolve(OptionalInt.of(3), OptionalInt.of(5), id -> true, 10))
        .isEqualTo(3);
    assertThat(MaskToken.resolve(NONE, OptionalInt.of(5), id -> true, 10)).isEqualTo(5);
    assertThat(MaskToken.resolve(NONE, NONE, id -> id != 6 && id < 8, 10)).isEqualTo(6);
    assertThat(MaskToken.resolve(NONE, NONE, id -> id < 8, 10)).isEqualTo(8);
  }

  @Test
  void refusesRowsThatAreNotThereAndVocabulariesWithoutAFreeOne() {
    assertThatThrownBy(() -> MaskToken.resolve(OptionalInt.of(10), NONE, id -> false, 10))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("drafter.mask-token is 10")
        .hasMessageContaining("rows 0 to 9");
    assertThatThrownBy(() -> MaskToken.resolve(NONE, OptionalInt.of(11), id -> false, 10))
        .hasMessageContaining("tokenizer's mask token is 11");
    assertThatThrownBy(() -> MaskToken.resolve(NONE, NONE, id -> true, 10))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("each of its 10 embedding rows");
  }
}
