package org.draftmill.compute.drafter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The fingerprint of weights that is reported. */
final class WeightHash {
  private WeightHash() {}

  /** SHA-256 over the little-endian bytes, in hexadecimal. */
  static String sha256(float[] values) {
    MessageDigest digest = sha256();
    ByteBuffer bytes = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
    int chunk = bytes.capacity() / Float.BYTES;
    for (int from = 0; from < values.length; from += chunk) {
      int count = Math.min(chunk, values.length - from);
      bytes.asFloatBuffer().put(values, from, count);
      digest.update(bytes.array(), 0, count * Float.BYTES);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
