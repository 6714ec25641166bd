package org.draftmill.compute.target;

import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/** Memory for what a pass gives back; it grows to the largest result and is kept. */
final class ResultBuffer implements AutoCloseable {
  private final Backend backend;
  private Workspace workspace;
  private int capacity;
  private Matrix allTaps; // [capacity, K·H], null until asked for
  private Matrix allFinalStates; // [capacity, H], null until asked for

  ResultBuffer(Backend backend) {
    this.backend = backend;
    this.workspace = backend.workspace();
  }

  /**
   * @param tapColumns K·H, or 0 without taps
   * @param finalColumns H, or 0 without final states
   */
  void resize(int rows, int tapColumns, int finalColumns) {
    if (rows > capacity || grows(allTaps, tapColumns) || grows(allFinalStates, finalColumns)) {
      workspace.close();
      workspace = backend.workspace();
      capacity = Math.max(rows, capacity);
      allTaps = tapColumns == 0 ? null : workspace.matrix(capacity, tapColumns);
      allFinalStates = finalColumns == 0 ? null : workspace.matrix(capacity, finalColumns);
    }
  }

  private static boolean grows(Matrix all, int columns) {
    return columns != 0 && (all == null || all.columns() != columns);
  }

  Workspace workspace() {
    return workspace;
  }

  Matrix taps(int rows) {
    return allTaps.rows(0, rows);
  }

  Matrix finalStates(int rows) {
    return allFinalStates.rows(0, rows);
  }

  @Override
  public void close() {
    workspace.close();
  }
}
