package org.draftmill.compute.cpu;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.drafter.ShuffledTraining;
import org.draftmill.compute.ops.Backend;

/**
 * What a Java of its own runs: prints the width of its vectors, whether it has a fused
 * multiply-add, a digest of every operation, which must be one for 1 to 8 threads, and the digest
 * of a drafter's weights, one for any order.
 */
final class Fingerprints {
  /** Every line of the results begins so; a virtual machine may print others. */
  static final String MARK = "> ";

  private static final int THREADS = 8;

  private Fingerprints() {}

  public static void main(String[] args) throws Exception {
    System.out.println(MARK + VectorKernels.L * Float.SIZE);
    System.out.println(MARK + CpuFeatures.fusedMultiplyAdd());
    String[][] digests = new String[THREADS + 1][];
    List<OpCase> cases = OpCases.all();
    for (int threads = 1; threads <= THREADS; threads++) {
      try (Backend backend = new CpuBackend(threads)) {
        digests[threads] = new String[cases.size()];
        for (int i = 0; i < cases.size(); i++) {
          digests[threads][i] = digest(cases.get(i).on(backend));
          same(cases.get(i) + " on " + threads + " threads", digests[1][i], digests[threads][i]);
        }
      }
    }
    for (int i = 0; i < cases.size(); i++) {
      System.out.println(MARK + digests[1][i] + " " + cases.get(i));
    }
    String weights = ShuffledTraining.weights(1, 1, new Random(0)).get(0);
    for (int seed = 1; seed <= THREADS; seed++) {
      for (String found : ShuffledTraining.weights(1 + seed % 3, seed, new Random(seed))) {
        same("weights, order " + seed, weights, found);
      }
    }
    System.out.println(MARK + weights + " weights");
  }

  private static void same(String what, String expected, String found) {
    if (!expected.equals(found)) {
      throw new AssertionError(what + ": " + found + " where it was " + expected);
    }
  }

  private static String digest(List<float[]> results) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (float[] result : results) {
      ByteBuffer bytes = ByteBuffer.allocate(4 * result.length);
      bytes.asFloatBuffer().put(result);
      digest.update(bytes);
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
