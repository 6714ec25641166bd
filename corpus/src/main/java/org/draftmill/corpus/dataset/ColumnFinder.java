package org.draftmill.corpus.dataset;

import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Union;
import org.apache.arrow.flatbuf.UnionMode;
import org.draftmill.corpus.InputException;

/**
 * Knows, from a file's schema, which buffers of a record batch belong to the two columns.
 *
 * <p>A batch lists the nodes and buffers of all its columns one after another, children behind
 * their parent, so those of the columns before the wanted ones have to be counted.
 */
final class ColumnFinder {
  private final MappedFile file;
  private final Column inputIds;
  private final Column lossMask;

  /** Where a column's first node and buffer are, and the types of its lists. */
  private record Column(String name, int node, int buffer, int offsetBytes, int valueBits) {}

  private int nodes; // counted so far
  private int buffers;

  /**
   * @throws InputException if a column is missing or of a type that cannot be read
   */
  ColumnFinder(MappedFile file, Schema schema) {
    this.file = file;
    if (schema.endianness() != Endianness.Little) {
      throw refused("is big-endian; write it on a little-endian machine");
    }
    Column ids = null;
    Column mask = null;
    for (int i = 0; i < schema.fieldsLength() && (ids == null || mask == null); i++) {
      Field field = schema.fields(i);
      if (ShardFormat.INPUT_IDS.equals(field.name())) {
        ids = column(field, false);
      } else if (ShardFormat.LOSS_MASK.equals(field.name())) {
        mask = column(field, true);
      }
      skip(field);
    }
    if (ids == null || mask == null) {
      throw refused(
          "has no column %s; it needs input_ids: list<int32> and loss_mask: list<uint8>"
              .formatted(ids == null ? ShardFormat.INPUT_IDS : ShardFormat.LOSS_MASK));
    }
    inputIds = ids;
    lossMask = mask;
  }

  private Column column(Field field, boolean mask) {
    byte type = field.typeType();
    if ((type != Type.List && type != Type.LargeList) || field.childrenLength() != 1) {
      throw refused(
          "has a column %s of type %s; it must be a list or large_list of whole numbers"
              .formatted(field.name(), Type.name(type)));
    }
    Field item = field.children(0);
    boolean plain = item.dictionary() == null;
    int bits = 0;
    if (plain && item.typeType() == Type.Int) {
      bits = ((Int) item.type(new Int())).bitWidth();
    } else if (plain && mask && item.typeType() == Type.Bool) {
      bits = 1;
    }
    if (bits == 0) {
      throw refused(
          "has a column %s whose elements are %s; they must be whole numbers%s"
              .formatted(field.name(), Type.name(item.typeType()), mask ? " or booleans" : ""));
    }
    return new Column(field.name(), nodes, buffers, type == Type.List ? 4 : 8, bits);
  }

  /** Counts the nodes and buffers of a column and its children. */
  private void skip(Field field) {
    nodes++;
    buffers += field.dictionary() != null ? 2 : buffersOf(field);
    if (field.dictionary() == null) {
      for (int i = 0; i < field.childrenLength(); i++) {
        skip(field.children(i));
      }
    }
  }

  private int buffersOf(Field field) {
    return switch (field.typeType()) {
      case Type.Null, Type.RunEndEncoded -> 0;
      case Type.Struct_, Type.FixedSizeList -> 1;
      case Type.Utf8, Type.Binary, Type.LargeUtf8, Type.LargeBinary -> 3;
      case Type.Union -> ((Union) field.type(new Union())).mode() == UnionMode.Sparse ? 1 : 2;
      case Type.ListView, Type.LargeListView -> 3;
      case Type.BinaryView, Type.Utf8View ->
          throw refused(
              "has a column %s of type %s before the needed ones; export input_ids and loss_mask only"
                  .formatted(field.name(), Type.name(field.typeType())));
      default -> 2;
    };
  }

  /**
   * The two columns of a batch.
   *
   * @param body where in the file its buffers start
   * @param bodyBytes how long they are together
   */
  ShardBatch find(RecordBatch batch, long firstRow, long body, long bodyBytes) {
    if (batch.compression() != null) {
      throw refused(
          "holds compressed batches, which cannot be read at random; write it uncompressed");
    }
    long rows = batch.length();
    ListColumn ids = column(batch, inputIds, rows, body, bodyBytes);
    ListColumn mask = column(batch, lossMask, rows, body, bodyBytes);
    return new ShardBatch(firstRow, rows, ids, mask);
  }

  private ListColumn column(
      RecordBatch batch, Column column, long rows, long body, long bodyBytes) {
    FieldNode list = batch.nodes(column.node());
    FieldNode items = batch.nodes(column.node() + 1);
    if (list.nullCount() != 0 || items.nullCount() != 0) {
      throw refused("has missing values in its column " + column.name() + "; drop those rows");
    }
    if (rows < 0 || list.length() != rows) {
      throw refused(
          "is damaged: a batch of %d rows has %d in its column %s"
              .formatted(rows, list.length(), column.name()));
    }
    // Buffers of a list: validity, offsets; of its items: validity, values.
    Buffer offsets = buffer(batch, column, column.buffer() + 1, bodyBytes);
    Buffer values = buffer(batch, column, column.buffer() + 3, bodyBytes);
    long offsetsNeeded = rows == 0 ? 0 : rows + 1;
    long elements =
        column.valueBits() == 1 ? values.length() * 8 : values.length() / (column.valueBits() / 8);
    if (offsets.length() / column.offsetBytes() < offsetsNeeded || elements < items.length()) {
      throw refused(
          "is damaged: a batch claims more rows or elements of %s than it has bytes for"
              .formatted(column.name()));
    }
    return new ListColumn(
        body + offsets.offset(),
        column.offsetBytes(),
        body + values.offset(),
        column.valueBits(),
        items.length());
  }

  private Buffer buffer(RecordBatch batch, Column column, int index, long bodyBytes) {
    Buffer buffer = batch.buffers(index);
    if (buffer.offset() < 0
        || buffer.length() < 0
        || buffer.length() > bodyBytes
        || buffer.offset() > bodyBytes - buffer.length()) {
      throw refused(
          "is damaged: a buffer of its column %s lies at %d with %d bytes in a batch of %d"
              .formatted(column.name(), buffer.offset(), buffer.length(), bodyBytes));
    }
    return buffer;
  }

  private InputException refused(String why) {
    return new InputException("The Arrow file %s %s.".formatted(file.path(), why));
  }
}
