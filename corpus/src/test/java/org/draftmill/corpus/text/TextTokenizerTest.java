package org.draftmill.corpus.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.draftmill.corpus.Demo;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.Digests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TextTokenizerTest {
  private TextTokenizer tokenizer;

  @BeforeAll
  void load() throws IOException {
    tokenizer = TextTokenizer.load(Demo.folder().resolve("target"));
  }

  @AfterAll
  void close() {
    tokenizer.close();
  }

  @Test
  void specialTokensInTheTextAreSingleTokens() {
    int[] ids = tokenizer.encode("<|im_start|>user\nHi<|im_end|>\n", false);

    assertThat(ids).startsWith(2045).contains(2046).endsWith(198);
    assertThat(tokenizer.addedToken("<|im_end|>")).hasValue(2046);
    assertThat(tokenizer.addedToken("Hi")).isEmpty();
  }

  /** The ids were computed by Hugging Face's own tokenizer for the demo's reference. */
  @Test
  void theIdsAreThoseOfHuggingFace() {
    assertThat(
            tokenizer.encode(
                "<|im_start|>user\nContinue this scripture: Behold,<|im_end|>\n<|im_start|>assistant\n",
                false))
        .containsExactly(
            2045, 424, 267, 198, 34, 269, 83, 260, 648, 398, 847, 350, 495, 522, 25, 1544, 11, 2046,
            198, 2045, 571, 462, 439, 198);
    assertThat(
            tokenizer.encode(
                "This agreement received the approval of the Senate on August I and was formally ratified by the two Governments on Novem",
                true))
        .containsExactly(
            1443, 275, 1633, 361, 1198, 1447, 259, 1170, 85, 300, 268, 259, 353, 274, 422, 345, 304,
            84, 70, 426, 306, 271, 405, 1804, 675, 582, 266, 1500, 393, 259, 785, 710, 82, 345, 464,
            951, 76);
  }

  @Test
  void aLongTextIsNeitherCutNorPadded() {
    int[] ids = tokenizer.encode("And it came to pass. ".repeat(5_000), false);

    assertThat(ids.length).isGreaterThan(25_000);
    assertThat(tokenizer.decode(ids)).isEqualTo("And it came to pass. ".repeat(5_000));
    assertThat(tokenizer.encode("a", false)).hasSize(1);
  }

  @Test
  void spansCoverTheTextInCodePoints() {
    String text = "a é漢😀\n\n <|im_end|>b";

    TokenSpans tokens = tokenizer.encodeSpans(text);

    assertThat(tokens.ids()).containsExactly(tokenizer.encode(text, false));
    assertThat(tokens.starts()[0]).isZero();
    assertThat(tokens.ends()[tokens.ids().length - 1])
        .isEqualTo(text.codePointCount(0, text.length()));
    for (int i = 1; i < tokens.ids().length; i++) {
      boolean follows = tokens.starts()[i] == tokens.ends()[i - 1];
      boolean shares = tokens.starts()[i] == tokens.starts()[i - 1];
      assertThat(follows || shares).isTrue();
    }
  }

  @Test
  void anyTextComesBack() {
    Random random = new Random(1);
    for (int i = 0; i < 300; i++) {
      String text =
          random
              .ints(random.nextInt(60), 1, 0x1F700)
              .filter(Character::isDefined)
              .filter(c -> !(c >= 0xD800 && c <= 0xDFFF))
              .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
              .toString();
      // The demo's tokenizer normalizes to NFC.
      String normal = Normalizer.normalize(text, Normalizer.Form.NFC);

      assertThat(
              Normalizer.normalize(
                  tokenizer.decode(tokenizer.encode(text, false)), Normalizer.Form.NFC))
          .isEqualTo(normal);
    }
  }

  @Test
  void manyThreadsGetWhatOneGets() {
    List<String> texts = IntStream.range(0, 400).mapToObj(i -> "word ".repeat(i % 50) + i).toList();
    List<String> alone =
        texts.stream().map(text -> Arrays.toString(tokenizer.encode(text, false))).toList();

    assertThat(texts.parallelStream().map(text -> Arrays.toString(tokenizer.encode(text, false))))
        .containsExactlyElementsOf(alone);
  }

  @Test
  void theChecksumIsThatOfTheFile() throws IOException {
    byte[] bytes = Files.readAllBytes(Demo.folder().resolve("target/tokenizer.json"));

    assertThat(tokenizer.sha256()).isEqualTo(Digests.sha256Hex(bytes));
  }

  @Test
  void truncationPaddingAndTrimmedOffsetsOfTheFileAreIgnored(@TempDir Path target)
      throws IOException {
    ObjectMapper json = new ObjectMapper();
    ObjectNode definition =
        (ObjectNode) json.readTree(Demo.folder().resolve("target/tokenizer.json").toFile());
    definition.set(
        "truncation",
        json.readTree(
            "{\"direction\":\"Right\",\"max_length\":4,\"strategy\":\"LongestFirst\",\"stride\":0}"));
    definition.set(
        "padding",
        json.readTree(
            "{\"strategy\":{\"Fixed\":64},\"direction\":\"Right\",\"pad_to_multiple_of\":null,\"pad_id\":0,\"pad_type_id\":0,\"pad_token\":\"!\"}"));
    definition.set(
        "post_processor",
        json.readTree(
            "{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}]}"));
    json.writeValue(target.resolve("tokenizer.json").toFile(), definition);

    try (TextTokenizer other = TextTokenizer.load(target)) {
      String text = "In the beginning  \n\n was the word";
      assertThat(other.encode(text, false)).containsExactly(tokenizer.encode(text, false));
      assertThat(other.encodeSpans(text).starts())
          .containsExactly(tokenizer.encodeSpans(text).starts());
    }
  }

  @Test
  void aMissingOrBrokenFileIsNamed(@TempDir Path target) throws IOException {
    assertThatThrownBy(() -> TextTokenizer.load(target))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("has no tokenizer.json");

    Files.writeString(target.resolve("tokenizer.json"), "{");
    assertThatThrownBy(() -> TextTokenizer.load(target))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("tokenizer.json is no JSON");

    Files.writeString(target.resolve("tokenizer.json"), "{\"model\": {}}");
    assertThatThrownBy(() -> TextTokenizer.load(target))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("cannot be used as a tokenizer");
  }

  @Test
  void aClosedTokenizerRefuses() throws IOException {
    TextTokenizer closed = TextTokenizer.load(Demo.folder().resolve("target"));
    closed.close();
    closed.close();

    assertThatThrownBy(() -> closed.encode("a", false)).isInstanceOf(IllegalStateException.class);
  }
}
