package org.draftmill.compute.ops;

/**
 * A vector of 32-bit integers on a device: token ids, positions, row numbers. Belongs to the {@link
 * Workspace} that made it.
 */
public interface Ints {
  int size();

  /** Copies all values to {@code destination}; waits for the device. */
  void read(int[] destination);
}
