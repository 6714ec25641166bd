package org.draftmill.corpus;

import java.util.HexFormat;

/**
 * A SHA-256 that names a dataset by its content.
 *
 * @param hex 64 lower-case hexadecimal digits
 */
public record Fingerprint(String hex) {
  /** Bytes of the digest. */
  public static final int BYTES = 32;

  /**
   * @throws InputException if it is not 64 lower-case hexadecimal digits
   */
  public Fingerprint {
    if (!hex.matches("[0-9a-f]{64}")) {
      throw new InputException(
          "'" + hex + "' is no dataset fingerprint, which has 64 lower-case hexadecimal digits.");
    }
  }

  public static Fingerprint of(byte[] digest) {
    return new Fingerprint(HexFormat.of().formatHex(digest));
  }

  /** The digest, {@code [32]}. */
  public byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }

  /** Its first eight bytes as a number, for a generator. */
  public long seed() {
    return Long.parseUnsignedLong(hex.substring(0, 16), 16);
  }

  @Override
  public String toString() {
    return hex;
  }
}
