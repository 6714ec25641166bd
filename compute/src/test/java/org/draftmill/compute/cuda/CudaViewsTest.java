package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.draftmill.compute.DType;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.Inputs;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Matrices that begin at any multiple of four bytes, as views by rows and of a model's weights may:
 * every operation takes them, and gives the bits that it gives for those on larger borders.
 */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaViewsTest {
  /** Of attention, which takes long, some; each case with one of the shifts. */
  static Stream<Arguments> cases() {
    Set<String> some = OpCases.some().stream().map(OpCase::name).collect(Collectors.toSet());
    List<OpCase> cases =
        OpCases.all().stream()
            .filter(op -> !op.name().startsWith("step"))
            .filter(op -> !op.name().contains("attention") || some.contains(op.name()))
            .toList();
    return IntStream.range(0, cases.size()).mapToObj(i -> Arguments.of(cases.get(i), 1 + i % 2));
  }

  @ParameterizedTest(name = "{0}, shifted by {1}")
  @MethodSource("cases")
  void giveTheBitsOfAlignedMatrices(OpCase op, int values) {
    try (CudaBackend backend = CudaBackend.open(0)) {
      List<float[]> expected = op.on(backend);
      try (Workspace shifted = new Shifted(backend, values)) {
        List<float[]> found = new ArrayList<>();
        Random random = new Random(op.name().hashCode());
        op.run().run(backend.ops(), new Inputs(backend, shifted, random), found);
        for (int r = 0; r < expected.size(); r++) {
          assertThat(found.get(r)).as("result %d", r).isEqualTo(expected.get(r));
        }
      }
    }
  }

  @Test
  void rowsOfAnOddWidthAreSuchViews() {
    try (CudaBackend backend = CudaBackend.open(0);
        Workspace memory = backend.workspace()) {
      float[] values = new float[13 * 9];
      for (int i = 0; i < values.length; i++) {
        values[i] = i - 50;
      }
      Matrix all = memory.matrix(13, 9, values);
      Matrix view = all.rows(1, 5); // 36 bytes behind a border of 256
      Matrix copy = memory.matrix(4, 9, view.toArray());
      backend.ops().add(copy, copy, copy);
      backend.ops().add(view, view, view);
      assertThat(view.toArray()).isEqualTo(copy.toArray());
      assertThat(all.rows(0, 1).toArray()).startsWith(-50, -49);
      assertThat(all.rows(5, 6).toArray()).startsWith(-5, -4);
    }
  }

  /** Hands out matrices that begin some values behind a border. */
  private record Shifted(CudaBackend backend, CudaWorkspace inner, int values)
      implements Workspace {
    Shifted(CudaBackend backend, int values) {
      this(backend, (CudaWorkspace) backend.workspace(), values);
    }

    @Override
    public Matrix matrix(int rows, int columns) {
      long before = (long) values * Float.BYTES;
      Piece piece = inner.take(before + (long) rows * columns * Float.BYTES);
      return new CudaMatrix(backend.transfers(), piece, before, rows, columns);
    }

    @Override
    public Matrix zeros(int rows, int columns) {
      return matrix(rows, columns, new float[rows * columns]);
    }

    @Override
    public void decode(ByteBuffer source, DType dtype, Matrix matrix) {
      inner.decode(source, dtype, matrix);
    }

    @Override
    public void encode(Matrix matrix, DType dtype, ByteBuffer destination) {
      inner.encode(matrix, dtype, destination);
    }

    @Override
    public Ints ints(int... numbers) {
      return inner.ints(numbers);
    }

    @Override
    public Weight arrange(Matrix matrix) {
      return inner.arrange(matrix);
    }

    @Override
    public void arrange(Matrix matrix, Weight weight) {
      inner.arrange(matrix, weight);
    }

    @Override
    public long bytesHeld() {
      return inner.bytesHeld();
    }

    @Override
    public long peakBytes() {
      return inner.peakBytes();
    }

    @Override
    public void reset() {
      inner.reset();
    }

    @Override
    public void close() {
      inner.close();
    }
  }
}
