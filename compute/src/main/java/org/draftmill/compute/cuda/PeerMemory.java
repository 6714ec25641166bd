package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import jcuda.driver.JCudaDriver;

/**
 * Memory of a device that other devices of the process copy from. Its owner closes it before giving
 * the memory back: from then on nobody begins to read, and whoever was reading has ended.
 */
final class PeerMemory {
  private final Launcher owner;
  private final Piece piece;
  private int readers;
  private boolean closed;

  PeerMemory(Launcher owner, Piece piece) {
    this.owner = owner;
    this.piece = piece;
  }

  /**
   * Begins to read, on the stream of a device of the process.
   *
   * @throws IllegalStateException when the owner has closed it
   */
  Reading read(Launcher reader) {
    enter();
    try {
      reader.context().reach(owner.context());
      return new Reading(reader);
    } catch (RuntimeException e) {
      leave();
      throw e;
    }
  }

  private synchronized void enter() {
    if (closed) {
      throw new IllegalStateException(
          "the memory of a drafter on %s was given back".formatted(owner.context().device()));
    }
    readers++;
  }

  private synchronized void leave() {
    readers--;
    notifyAll();
  }

  /** Waits for those who read; each is at it for the time of a copy. */
  synchronized void close() {
    closed = true;
    boolean interrupted = false;
    while (readers > 0) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** While it is open the memory stays; closing waits for the copies. */
  final class Reading implements AutoCloseable {
    private final Launcher reader;

    private Reading(Launcher reader) {
      this.reader = reader;
    }

    /**
     * Copies behind what the reader's stream was given before: straight from device to device where
     * they reach each other, else the driver takes it by way of the host.
     *
     * @param from byte of this memory
     * @param at byte of {@code to}
     */
    void copy(long from, long bytes, Piece to, long at) {
      reader.context().use();
      check(
          JCudaDriver.cuMemcpyPeerAsync(
              new DeviceAddress(to.address() + at),
              reader.context().handle(),
              new DeviceAddress(piece.address() + from),
              owner.context().handle(),
              bytes,
              reader.stream().handle()),
          "copying %d bytes from %s to %s on the stream %s"
              .formatted(
                  bytes, owner.context().device(), reader.context().device(), reader.stream()));
      to.usedBy(reader.stream().note());
    }

    @Override
    public void close() {
      try {
        reader.stream().await();
      } finally {
        leave();
      }
    }
  }
}
