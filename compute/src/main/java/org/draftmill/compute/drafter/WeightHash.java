package org.draftmill.compute.drafter;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Fingerprints of weights: a quick one to compare every step, and SHA-256 to report. */
final class WeightHash {
  private static final int LANES = 4;
  private static final long PRIME = 0x9E3779B97F4A7C15L;

  private WeightHash() {}

  /** 64 bits that change with any bit of any element; not meant to withstand intent. */
  static long quick(float[] values) {
    long a = 1;
    long b = 2;
    long c = 3;
    long d = 4;
    int whole = values.length - values.length % LANES;
    for (int i = 0; i < whole; i += LANES) {
      a = (a ^ Float.floatToRawIntBits(values[i])) * PRIME;
      b = (b ^ Float.floatToRawIntBits(values[i + 1])) * PRIME;
      c = (c ^ Float.floatToRawIntBits(values[i + 2])) * PRIME;
      d = (d ^ Float.floatToRawIntBits(values[i + 3])) * PRIME;
    }
    for (int i = whole; i < values.length; i++) {
      a = (a ^ Float.floatToRawIntBits(values[i])) * PRIME;
    }
    long hash = (((a * 31 + b) * 31 + c) * 31 + d) * PRIME;
    return hash ^ hash >>> 32;
  }

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
