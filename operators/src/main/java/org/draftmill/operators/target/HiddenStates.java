package org.draftmill.operators.target;

import java.nio.ByteBuffer;
import org.draftmill.serializers.HiddenDType;

/** The result of one forward pass; one thread at a time reads it, and closes it when done. */
public interface HiddenStates extends AutoCloseable {
  /** Whether every value is finite. */
  boolean allFinite();

  /** {@code K·H}. */
  int tapColumns();

  /** {@code H}, or 0 where no final states were asked for. */
  int finalColumns();

  /**
   * Puts the taps of the rows {@code from} to {@code to − 1} at the destination's position, rounded
   * to {@code dtype}, row by row, little-endian.
   */
  void encodeTaps(int from, int to, HiddenDType dtype, ByteBuffer destination);

  /** The same for the final states. */
  void encodeFinal(int from, int to, HiddenDType dtype, ByteBuffer destination);

  @Override
  void close();
}
