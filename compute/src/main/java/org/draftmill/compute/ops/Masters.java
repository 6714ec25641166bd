package org.draftmill.compute.ops;

import java.util.Optional;

/**
 * The weights of a model in training, on a device: all of them in fp32, side by side, and both
 * moments of AdamW for the part that this holder updates, its shard. Every backend makes the same
 * of the same sums, weights and moments, to the bit. Belongs to whoever asked the {@link Backend}
 * for it; closing twice is harmless.
 */
public interface Masters extends AutoCloseable {
  /** Elements whose squares are added up on their own; a shard begins where such a block does. */
  int BLOCK = 1 << 16;

  /** Weights in all. */
  int size();

  /** The first element of the shard. */
  int from();

  /** The element after the last one of the shard. */
  int to();

  /**
   * Weights as a matrix, row by row from element {@code offset} on: a view, which changes with
   * them.
   */
  Matrix view(int offset, int rows, int columns);

  /**
   * The weights on the host, {@code [size]}, of which the elements {@code from … to − 1} are as on
   * the device and the others undefined; waits for the device. The caller may change the array,
   * which belongs to these masters and is valid until they are next used; whether a change shows in
   * the weights is undefined.
   */
  float[] toHost(int from, int to);

  /**
   * Replaces the elements {@code from … to − 1} by those of {@code weights} {@code [size]}, which
   * may be what {@link #toHost} returned.
   */
  void write(float[] weights, int from, int to);

  /**
   * The weights as other devices of the process take them, once the device has done what it was
   * given; empty where they lie on the host.
   */
  default Optional<PeerValues> forPeers() {
    return Optional.empty();
  }

  /**
   * Copies the moments of the shard, {@code [to − from]} each, to the host; waits for the device.
   */
  void readMoments(float[] first, float[] second);

  /** Replaces the moments of the shard, {@code [to − from]} each. */
  void writeMoments(float[] first, float[] second);

  /**
   * {@code squares[b] = Σ (sums[i]·unit)²} over the elements of block b, for each block of the
   * shard; the others are left alone. In double: four interleaved sums a block, {@code (a + b) + (c
   * + d)}. Waits for the device.
   *
   * @param sums {@code [size]} of the same backend
   * @param squares {@code [blocks]} of all weights
   */
  void squares(ExactSums sums, double unit, double[] squares);

  /**
   * One update of the weights and moments of the elements {@code begin … end − 1}, which lie in the
   * shard, by the gradient {@code g[i] = (float) (sums[i]·factor)}, the product in double.
   *
   * @param sums {@code [size]} of the same backend
   */
  void update(ExactSums sums, double factor, AdamW adamW, int begin, int end);

  /**
   * 64 bits that change with any bit of any weight, to compare those of several holders ({@link
   * Fingerprint}); not meant to withstand intent. Waits for the device.
   */
  long fingerprint();

  @Override
  void close();
}
