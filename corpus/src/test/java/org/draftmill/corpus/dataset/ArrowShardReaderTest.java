package org.draftmill.corpus.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.Sequences;
import org.draftmill.corpus.TokenizedSequence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ArrowShardReaderTest {
  @TempDir private Path directory;

  /** A way in which another tool may export the two columns. */
  record Export(ArrowType list, ArrowType ids, ArrowType mask, boolean stream) {}

  static List<Export> exports() {
    List<Export> exports = new ArrayList<>();
    for (ArrowType list : List.of(new ArrowType.List(), new ArrowType.LargeList())) {
      for (ArrowType ids : List.of(number(32, true), number(64, true), number(32, false))) {
        for (ArrowType mask :
            List.of(new ArrowType.Bool(), number(8, true), number(8, false), number(64, true))) {
          exports.add(new Export(list, ids, mask, exports.size() % 2 == 1));
        }
      }
    }
    return exports;
  }

  private static ArrowType number(int bits, boolean signed) {
    return new ArrowType.Int(bits, signed);
  }

  @ParameterizedTest
  @MethodSource("exports")
  void whatOtherToolsExportIsReadAsItIs(Export export) throws IOException {
    List<TokenizedSequence> sequences = Sequences.random(1, 60, 40);

    ArrowShardReader reader = ArrowShardReader.open(write(export, sequences));

    assertThat(LongStream.range(0, reader.rows()).mapToObj(reader::sequence)).isEqualTo(sequences);
  }

  /** Writes three batches with two columns of text before, between which the needed ones lie. */
  private Path write(Export export, List<TokenizedSequence> sequences) throws IOException {
    Schema schema =
        new Schema(
            List.of(
                Field.nullable("source", new ArrowType.Utf8()),
                list("loss_mask", export.list(), export.mask()),
                new Field(
                    "scores",
                    FieldType.nullable(new ArrowType.Struct()),
                    List.of(
                        Field.nullable(
                            "a", new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE)),
                        Field.nullable("b", new ArrowType.Utf8()))),
                list("input_ids", export.list(), export.ids())));
    Path path = directory.resolve("export.arrow");
    try (BufferAllocator allocator = new RootAllocator();
        VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
        var out = Channels.newChannel(Files.newOutputStream(path));
        ArrowWriter writer =
            export.stream()
                ? new ArrowStreamWriter(root, null, out)
                : new ArrowFileWriter(root, null, out)) {
      writer.start();
      for (int from = 0; from < sequences.size(); from += 20) {
        root.allocateNew();
        for (int row = 0; row < 20; row++) {
          TokenizedSequence sequence = sequences.get(from + row);
          ((VarCharVector) root.getVector("source")).setSafe(row, ("row" + row).getBytes());
          int[] mask = new int[sequence.length()];
          Arrays.setAll(mask, i -> sequence.lossMask()[i]);
          append(root.getVector("input_ids"), row, sequence.inputIds());
          append(root.getVector("loss_mask"), row, mask);
        }
        root.setRowCount(20);
        writer.writeBatch();
      }
      writer.end();
    }
    return path;
  }

  private static Field list(String name, ArrowType list, ArrowType item) {
    return new Field(name, FieldType.nullable(list), List.of(Field.nullable("item", item)));
  }

  private static void append(FieldVector column, int row, int[] values) {
    int start =
        column instanceof ListVector list
            ? list.startNewValue(row)
            : (int) ((LargeListVector) column).startNewValue(row);
    FieldVector items = column.getChildrenFromFields().get(0);
    while (items.getValueCapacity() < start + values.length) {
      items.reAlloc();
    }
    for (int i = 0; i < values.length; i++) {
      if (items instanceof BitVector bits) {
        bits.setSafe(start + i, values[i]);
      } else {
        ((BaseIntVector) items).setWithPossibleTruncate(start + i, values[i]);
      }
    }
    if (column instanceof ListVector list) {
      list.endValue(row, values.length);
    } else {
      ((LargeListVector) column).endValue(row, values.length);
    }
  }

  @Test
  void otherFilesAreRefusedByName() throws IOException {
    Path file = directory.resolve("x.parquet");

    Files.write(file, "PAR1aaaaaaaaaaaaPAR1".getBytes());
    assertThatThrownBy(() -> ArrowShardReader.open(file))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("x.parquet is a Parquet file; export it as Arrow");

    Files.write(file, "{\"text\": \"a\"}".getBytes());
    assertThatThrownBy(() -> ArrowShardReader.open(file))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no Arrow file");

    Files.write(file, new byte[0]);
    assertThatThrownBy(() -> ArrowShardReader.open(file))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no Arrow file");
  }

  @Test
  void missingOrUnusableColumnsAreNamed() throws IOException {
    Path text = directory.resolve("text.arrow");
    writeEmpty(text, new Schema(List.of(Field.nullable("text", new ArrowType.Utf8()))));
    assertThatThrownBy(() -> ArrowShardReader.open(text))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no column input_ids");

    Path floats = directory.resolve("floats.arrow");
    writeEmpty(
        floats,
        new Schema(
            List.of(
                list(
                    "input_ids",
                    new ArrowType.List(),
                    new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE)))));
    assertThatThrownBy(() -> ArrowShardReader.open(floats))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("FloatingPoint");

    Path plain = directory.resolve("plain.arrow");
    writeEmpty(plain, new Schema(List.of(Field.nullable("input_ids", number(32, true)))));
    assertThatThrownBy(() -> ArrowShardReader.open(plain))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("must be a list");
  }

  private static void writeEmpty(Path path, Schema schema) throws IOException {
    try (BufferAllocator allocator = new RootAllocator();
        VectorSchemaRoot root = VectorSchemaRoot.create(schema, allocator);
        var out = Channels.newChannel(Files.newOutputStream(path));
        ArrowFileWriter writer = new ArrowFileWriter(root, null, out)) {
      writer.start();
      writer.end();
    }
  }

  /** Whatever is damaged, the reader reads it or says so; it never fails in another way. */
  @Test
  void damageIsReadOrRefusedButNeverCrashes() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ArrowShardWriter writer = new ArrowShardWriter(out, Map.of())) {
      for (TokenizedSequence sequence : Sequences.random(2, 30, 20)) {
        writer.write(sequence);
      }
      writer.finish();
    }
    byte[] whole = out.toByteArray();
    Random random = new Random(3);
    int refused = 0;
    for (int i = 0; i < 3_000; i++) {
      byte[] damaged = whole.clone();
      for (int k = random.nextInt(3); k >= 0; k--) {
        // Metadata lie at both ends.
        int at = random.nextInt(600);
        damaged[random.nextBoolean() ? at : damaged.length - 1 - at] =
            (byte) (random.nextBoolean() ? 0xFF : random.nextInt(256));
      }
      if (random.nextInt(10) == 0) {
        damaged = Arrays.copyOf(damaged, random.nextInt(damaged.length));
      }
      Path file = directory.resolve("damaged-" + i);
      Files.write(file, damaged);
      try {
        ArrowShardReader reader = ArrowShardReader.open(file);
        for (long row = 0; row < Math.min(reader.rows(), 1_000); row++) {
          reader.sequence(row);
        }
      } catch (InputException e) {
        assertThat(e).hasMessageContaining("damaged-" + i);
        refused++;
      }
      Files.delete(file);
    }
    assertThat(refused).isGreaterThan(500);
  }
}
