package org.draftmill.corpus.io;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.draftmill.corpus.InputException;

/**
 * Reads files of others whole, as far as they are as small as such files are: what claims to be a
 * configuration and is gigabytes long, or has no end, is refused before it is held.
 */
public final class BoundedFile {
  /** Of a configuration, a chat template, a manifest. */
  public static final int SMALL = 64 << 20;

  /** Of a tokenizer, the largest of which have some thirty megabytes. */
  public static final int TOKENIZER = 256 << 20;

  private BoundedFile() {}

  /**
   * @param most bytes that such a file may have
   * @throws InputException if it has more, or is {@linkplain InputFile#open none}
   */
  public static byte[] bytes(Path file, int most) throws IOException {
    try (InputStream in = InputFile.stream(file)) {
      return bytes(in, file.toString(), most);
    }
  }

  /**
   * The same of a stream, to its end.
   *
   * @param name for the message
   */
  public static byte[] bytes(InputStream in, String name, int most) throws IOException {
    byte[] bytes = in.readNBytes(most);
    if (in.read() >= 0) {
      throw new InputException(
          "%s has more than %d bytes, which such a file may have at most: is it what its name says?"
              .formatted(name, most));
    }
    return bytes;
  }

  /**
   * The same of a text.
   *
   * @throws InputException also if it is not UTF-8
   */
  public static String text(Path file, int most) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(bytes(file, most));
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException e) {
      throw new InputException(file + " is not UTF-8 text: is it what its name says?", e);
    }
  }
}
