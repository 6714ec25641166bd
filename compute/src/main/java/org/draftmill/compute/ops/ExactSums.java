package org.draftmill.compute.ops;

import java.util.Optional;

/**
 * Sums on a device as 64-bit integers ({@link FixedPoint}), so that they are the same in whatever
 * order they are formed, and on every backend. Belongs to whoever asked the {@link Backend} for it.
 */
public interface ExactSums extends AutoCloseable {
  /** How many there are. */
  int size();

  /**
   * Adds all values, row by row, to the sums from {@code offset} on. A value that is not finite, or
   * not below {@link FixedPoint#LIMIT} in magnitude, spoils the sums until they are cleared.
   */
  void add(Matrix values, int offset);

  /** Whether nothing has spoilt the sums since they were cleared; waits for the device. */
  boolean sound();

  /**
   * The sums on the host, {@code [size]}; waits for the device. The caller may change the array,
   * which belongs to these sums and is valid until they are next used; whether a change shows in
   * the sums is undefined.
   */
  long[] toHost();

  /** Replaces all sums; {@code values} {@code [size]} may be what {@link #toHost} returned. */
  default void write(long[] values) {
    write(values, 0, size());
  }

  /** Replaces the sums {@code from … to − 1} by those of {@code values} {@code [size]}. */
  void write(long[] values, int from, int to);

  /**
   * The sums as other devices of the process take them, once the device has done what it was given;
   * empty where they lie on the host.
   */
  default Optional<PeerValues> forPeers() {
    return Optional.empty();
  }

  /** Back to zero, and sound. */
  void clear();

  @Override
  void close();
}
