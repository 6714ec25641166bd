package org.draftmill.compute.cuda;

/**
 * A piece of an arena: what lies in it is known to nobody but its owner. Remembers the last launch
 * that used it, so that a copy on another stream waits for that one and not for what came after.
 */
final class Piece implements DeviceValue {
  private final long address;
  private final long bytes;
  private volatile long lastUse;
  private volatile boolean valid = true;

  Piece(long address, long bytes) {
    this.address = address;
    this.bytes = bytes;
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException after the workspace was reset or closed
   */
  @Override
  public long address() {
    if (!valid) {
      throw new IllegalStateException("this memory's workspace was reset or closed");
    }
    return address;
  }

  @Override
  public Piece piece() {
    return this;
  }

  long bytes() {
    return bytes;
  }

  /** The number of the last work on the compute stream that touched this. */
  long lastUse() {
    return lastUse;
  }

  void usedBy(long work) {
    lastUse = work;
  }

  void invalidate() {
    valid = false;
  }
}
