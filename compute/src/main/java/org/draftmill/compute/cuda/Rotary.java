package org.draftmill.compute.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.RopeTable;

/** Rotary embedding: {@code rope.cu}. Frequencies stay on the device. */
final class Rotary {
  private static final int THREADS = 128;
  private static final int ANGLE_BYTES = 2 * Float.BYTES;

  private final Launcher launcher;
  private final Scratch scratch;
  private final List<Frequencies> known = new ArrayList<>(); // one or two a model

  private record Frequencies(double[] values, CudaInts onDevice) {}

  Rotary(Launcher launcher, Scratch scratch) {
    this.launcher = launcher;
    this.scratch = scratch;
  }

  /**
   * Turns every head of x in place.
   *
   * @param direction 1 as {@link org.draftmill.compute.ops.Ops#rope}, −1 for its inverse
   */
  void turn(Matrix x, Ints positions, RopeTable table, float direction) {
    CudaMatrix values = CudaMatrix.of(x);
    int half = table.headDim() / 2;
    launcher.launch(
        "rope",
        "turn_rows",
        Grid.of(values.rows(), THREADS).withShared(ANGLE_BYTES * half),
        values,
        CudaInts.of(positions),
        frequencies(table.inverseFrequency()),
        (float) table.scale(),
        direction,
        values.columns() / table.headDim(),
        half);
  }

  private CudaInts frequencies(double[] values) {
    for (Frequencies frequencies : known) {
      if (Arrays.equals(frequencies.values, values)) {
        return frequencies.onDevice;
      }
    }
    CudaInts onDevice = scratch.doubles("rotary frequencies " + known.size(), values);
    known.add(new Frequencies(values.clone(), onDevice));
    return onDevice;
  }
}
