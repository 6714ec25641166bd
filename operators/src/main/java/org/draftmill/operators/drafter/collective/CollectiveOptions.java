package org.draftmill.operators.drafter.collective;

import java.io.Serializable;
import java.time.Duration;

/**
 * How drafters exchange a step; the same for all of them.
 *
 * @param timeout how long a peer may be silent, and how long the group may take to meet
 * @param throughMemory whether members of one process exchange through memory; else all use TCP
 * @param piece elements that travel at once
 */
public record CollectiveOptions(Duration timeout, boolean throughMemory, int piece)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Elements of a piece: 256 KB of 64-bit sums. */
  public static final int PIECE = 32_768;

  private static final int PIECES_OF_A_DEVICE = 128;

  public CollectiveOptions {
    if (timeout.toMillis() < 4 || timeout.toMillis() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Not a usable timeout: " + timeout + ".");
    }
    if (piece < 1 || piece > Integer.MAX_VALUE / PIECES_OF_A_DEVICE) {
      throw new IllegalArgumentException("Not a usable number of elements: " + piece + ".");
    }
  }

  public CollectiveOptions(Duration timeout) {
    this(timeout, true, PIECE);
  }

  /** Elements that travel at once from device to device, for whom a piece is little. */
  int devicePiece() {
    return piece * PIECES_OF_A_DEVICE;
  }

  int timeoutMillis() {
    return (int) timeout.toMillis();
  }

  /** How often a member says that it is alive. */
  long aliveMillis() {
    return timeoutMillis() / 4;
  }
}
