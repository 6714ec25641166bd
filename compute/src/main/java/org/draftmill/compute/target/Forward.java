package org.draftmill.compute.target;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Matrix;

/**
 * The hidden states of one forward pass. They lie in one of the {@value TargetModel#RESULTS} result
 * buffers that a {@link TargetModel} lends, and stay valid until {@link #close} gives the buffer
 * back, while the model already runs the next pass. One thread at a time reads a result; it may be
 * another than the model's.
 */
public final class Forward implements AutoCloseable {
  private final TargetModel model;
  private final ResultBuffer buffer;
  private final Matrix taps; // [rows, K·H]
  private final Matrix finalStates; // [rows, H] or null
  private final boolean allFinite;
  private final AtomicBoolean closed = new AtomicBoolean();

  Forward(
      TargetModel model, ResultBuffer buffer, Matrix taps, Matrix finalStates, boolean allFinite) {
    this.model = model;
    this.buffer = buffer;
    this.taps = taps;
    this.finalStates = finalStates;
    this.allFinite = allFinite;
  }

  public int rows() {
    return taps.rows();
  }

  /** K·H. */
  public int tapColumns() {
    return taps.columns();
  }

  /** H, or 0 when the final states were not asked for. */
  public int finalColumns() {
    return finalStates == null ? 0 : finalStates.columns();
  }

  /** Whether every value here is finite. */
  public boolean allFinite() {
    return allFinite;
  }

  /** The tapped states {@code [rows, K·H]}, tap by tap in the columns. */
  public Matrix taps() {
    requireOpen();
    return taps;
  }

  /** The states after the final norm, {@code [rows, H]}. */
  public Matrix finalStates() {
    requireOpen();
    if (finalStates == null) {
      throw new IllegalStateException("this pass was not asked for final states");
    }
    return finalStates;
  }

  /**
   * Puts the taps of rows {@code fromRow} to {@code toRow − 1} into {@code destination}, rounded to
   * {@code dtype}: {@code (toRow − fromRow)·tapColumns} little-endian values from its position on.
   */
  public void encodeTaps(int fromRow, int toRow, DType dtype, ByteBuffer destination) {
    buffer.workspace().encode(taps().rows(fromRow, toRow), dtype, destination);
  }

  /** The same for the final states. */
  public void encodeFinal(int fromRow, int toRow, DType dtype, ByteBuffer destination) {
    buffer.workspace().encode(finalStates().rows(fromRow, toRow), dtype, destination);
  }

  private void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException("this result was given back");
    }
  }

  /** Gives the buffer back to the model; twice is harmless. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      model.giveBack(buffer);
    }
  }
}
