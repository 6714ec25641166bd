package org.draftmill.compute.drafter;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/** Reads the hidden states of a microbatch into matrices, and checks that they are all there. */
final class HiddenStates {
  private final Microbatch microbatch;
  private final int tapColumns;
  private final int hiddenSize;

  /**
   * @throws IllegalArgumentException when the microbatch does not fit the drafter or itself
   */
  HiddenStates(Microbatch microbatch, DrafterConfig config, boolean needsFinalStates) {
    this.microbatch = microbatch;
    this.tapColumns = config.tapColumns();
    this.hiddenSize = config.hiddenSize();
    int next = 0;
    for (HiddenRows piece : microbatch.hidden()) {
      check(piece.firstRow() == next, "hidden states of row " + next, piece.firstRow());
      long bytes = (long) piece.rows() * piece.dtype().bytes();
      check(
          piece.taps().remaining() == bytes * tapColumns,
          bytes * tapColumns + " bytes of taps for " + piece.rows() + " rows",
          piece.taps().remaining());
      if (needsFinalStates) {
        check(piece.finalStates() != null, "final states, which soft labels need,", "none");
        check(
            piece.finalStates().remaining() == bytes * hiddenSize,
            bytes * hiddenSize + " bytes of final states for " + piece.rows() + " rows",
            piece.finalStates().remaining());
      }
      next += piece.rows();
    }
    check(next == microbatch.rows(), "hidden states of " + microbatch.rows() + " rows", next);
    check(
        microbatch.lossMask().length == next,
        next + " loss mask entries",
        microbatch.lossMask().length);
    int[] starts = microbatch.documentStarts();
    int documents = microbatch.documents();
    check(
        starts.length == documents + 1 && starts[0] == 0 && starts[documents] == next,
        documents + " documents from row 0 to row " + next,
        Arrays.toString(starts));
    for (int document = 0; document < documents; document++) {
      check(starts[document] <= starts[document + 1], "ascending documents", starts[document + 1]);
    }
    for (int id : microbatch.inputIds()) {
      check(id >= 0 && id < config.vocabularySize(), "ids of the vocabulary", id);
    }
  }

  /** Decodes the taps of rows {@code from … to − 1} into {@code out} {@code [to − from, K·H]}. */
  void taps(int from, int to, Workspace workspace, Matrix out) {
    decode(from, to, false, tapColumns, workspace, out);
  }

  /** Decodes the final states of rows {@code from … to − 1} into {@code out} of H columns. */
  void finalStates(int from, int to, Workspace workspace, Matrix out) {
    decode(from, to, true, hiddenSize, workspace, out);
  }

  private void decode(
      int from, int to, boolean finals, int columns, Workspace workspace, Matrix out) {
    for (HiddenRows piece : microbatch.hidden()) {
      int begin = Math.max(from, piece.firstRow());
      int end = Math.min(to, piece.firstRow() + piece.rows());
      if (begin < end) {
        ByteBuffer bytes = (finals ? piece.finalStates() : piece.taps()).duplicate();
        int skip = (begin - piece.firstRow()) * columns * piece.dtype().bytes();
        bytes.position(bytes.position() + skip);
        workspace.decode(bytes, piece.dtype(), out.rows(begin - from, end - from));
      }
    }
  }

  private static void check(boolean condition, String expected, Object found) {
    if (!condition) {
      throw new IllegalArgumentException(
          "The microbatch should hold " + expected + ", but found " + found + ".");
    }
  }
}
