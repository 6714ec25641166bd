package org.draftmill.compute.host;

import org.draftmill.compute.ops.Ints;

/** Integers in a heap array that nobody else changes. */
public record HostInts(int[] values) implements Ints {

  /** The values as this module's host backends see them; not to be changed. */
  public static int[] of(Ints ints) {
    if (ints instanceof HostInts host) {
      return host.values;
    }
    throw new IllegalArgumentException(
        "a host backend cannot use integers of " + ints.getClass().getName());
  }

  @Override
  public int size() {
    return values.length;
  }

  @Override
  public void read(int[] destination) {
    System.arraycopy(values, 0, destination, 0, values.length);
  }
}
