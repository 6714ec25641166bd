package org.draftmill.serializers;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Consecutive rows of one job's microbatch: tokens, loss mask and the target's hidden states. Or a
 * tombstone, which keeps the place of a job that yielded none.
 *
 * <p>Immutable. Backed by one array in the layout of {@link HiddenStateChunkFormat}, so reading and
 * writing it is one bulk copy; accessors return read-only, little-endian views of that array, each
 * from position 0 to its limit. It is no POJO and has no public constructor on purpose: Flink then
 * takes it for a generic type, for which a registered Kryo serializer counts.
 */
public final class HiddenStateChunk {
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

  private final byte[] bytes;
  private final ByteBuffer view;
  private final HiddenDType dtype;
  private final HiddenStateChunkFormat.Layout layout;

  /** Takes over checked bytes. */
  HiddenStateChunk(byte[] bytes) throws RecordFormatException {
    this.bytes = bytes;
    this.view = RecordEnvelope.view(bytes);
    this.dtype = HiddenDType.ofCode(view.get(RecordEnvelope.DTYPE_AT));
    this.layout = HiddenStateChunkFormat.Layout.of(view, dtype);
  }

  /**
   * Which rows of a job a chunk holds, and how they are stored.
   *
   * @param chunk its number, from 0
   * @param chunks of the job
   * @param firstRow of the job's rows, the first one here
   * @param rows here
   * @param rowsOfJob in all chunks
   * @param tapColumns {@code K·H}
   * @param finalColumns {@code H}, or 0 where no final states travel
   * @param dtype of taps and final states
   */
  public record Shape(
      int chunk,
      int chunks,
      int firstRow,
      int rows,
      int rowsOfJob,
      int tapColumns,
      int finalColumns,
      HiddenDType dtype) {
    public Shape {
      if (Math.min(rows, Math.min(tapColumns, finalColumns)) < 0) {
        throw new IllegalArgumentException(
            "A chunk's rows %d, tap columns %d and final columns %d must not be negative."
                .formatted(rows, tapColumns, finalColumns));
      }
    }
  }

  /**
   * A document that starts in a chunk's rows.
   *
   * @param sequenceId of the dataset
   * @param firstRow counted from the start of the job
   * @param length rows, which may run on into later chunks
   */
  public record Document(long sequenceId, int firstRow, int length) {}

  /**
   * Begins a chunk whose parts are then written straight into its bytes.
   *
   * @param documents those that start in these rows, ascending
   * @throws IllegalArgumentException if the values contradict each other
   */
  public static Builder builder(JobId job, Shape shape, List<Document> documents) {
    return new Builder(HiddenStateChunkFormat.start(job, shape, documents));
  }

  /** The one chunk of a job that yields no hidden states. */
  public static HiddenStateChunk tombstone(JobId job, int rowsOfJob, String reason) {
    return unchecked(HiddenStateChunkFormat.tombstone(job, rowsOfJob, reason));
  }

  private static HiddenStateChunk unchecked(byte[] own) {
    try {
      return new HiddenStateChunk(own);
    } catch (RecordFormatException e) {
      throw new IllegalStateException(e);
    }
  }

  public JobId job() {
    return new JobId(
        position(),
        view.getInt(HiddenStateChunkFormat.EPOCH_AT),
        view.getInt(HiddenStateChunkFormat.INDEX_AT),
        view.getInt(HiddenStateChunkFormat.BUCKET_AT));
  }

  /** Of the job in the run. */
  public long position() {
    return view.getLong(HiddenStateChunkFormat.POSITION_AT);
  }

  public boolean isTombstone() {
    return view.get(RecordEnvelope.KIND_AT) == HiddenStateChunkFormat.TOMBSTONE;
  }

  /** Why a tombstone stands here; empty for hidden states. */
  public String reason() {
    int length = view.getInt(HiddenStateChunkFormat.REASON_BYTES_AT);
    return new String(bytes, (int) layout.reason(), length, StandardCharsets.UTF_8);
  }

  /** Its number among the chunks of the job, from 0. */
  public int chunk() {
    return view.getInt(HiddenStateChunkFormat.CHUNK_AT);
  }

  /** Chunks of the job. */
  public int chunks() {
    return view.getInt(HiddenStateChunkFormat.CHUNKS_AT);
  }

  /** Row of the job that the first row here is. */
  public int firstRow() {
    return view.getInt(HiddenStateChunkFormat.FIRST_ROW_AT);
  }

  public int rows() {
    return view.getInt(HiddenStateChunkFormat.ROWS_AT);
  }

  /** Rows in all chunks of the job; of a tombstone, the rows that the job would have had. */
  public int rowsOfJob() {
    return view.getInt(HiddenStateChunkFormat.ROWS_OF_JOB_AT);
  }

  /** {@code K·H}. */
  public int tapColumns() {
    return view.getInt(HiddenStateChunkFormat.TAP_COLUMNS_AT);
  }

  /** {@code H}, or 0 where no final states travel. */
  public int finalColumns() {
    return view.getInt(HiddenStateChunkFormat.FINAL_COLUMNS_AT);
  }

  /** Of taps and final states. */
  public HiddenDType dtype() {
    return dtype;
  }

  /** Documents that start in these rows, ascending. */
  public List<Document> documents() {
    int count = view.getInt(HiddenStateChunkFormat.DOCUMENTS_AT);
    List<Document> documents = new ArrayList<>(count);
    int at = (int) layout.documents();
    for (int d = 0; d < count; d++, at += HiddenStateChunkFormat.DOCUMENT_BYTES) {
      documents.add(new Document(view.getLong(at), view.getInt(at + 8), view.getInt(at + 12)));
    }
    return documents;
  }

  /** int32 {@code [rows]}. */
  public ByteBuffer inputIds() {
    return part(layout.inputIds(), Integer.BYTES * (long) rows()).asReadOnlyBuffer().order(LE);
  }

  /** uint8 {@code [rows]}: 1 where the token is supervised. */
  public ByteBuffer lossMask() {
    return part(layout.lossMask(), rows()).asReadOnlyBuffer().order(LE);
  }

  /** {@code [rows, K·H]} of the dtype. */
  public ByteBuffer taps() {
    return part(layout.taps(), matrixBytes(tapColumns())).asReadOnlyBuffer().order(LE);
  }

  /** {@code [rows, H]} of the dtype, after the target's final norm; empty where none travel. */
  public ByteBuffer finalStates() {
    return part(layout.finalStates(), matrixBytes(finalColumns())).asReadOnlyBuffer().order(LE);
  }

  /** Bytes of the whole record. */
  public int sizeInBytes() {
    return bytes.length;
  }

  /** The record itself, read-only. */
  public ByteBuffer record() {
    return view.asReadOnlyBuffer().order(LE);
  }

  byte[] bytes() {
    return bytes;
  }

  private long matrixBytes(int columns) {
    return (long) rows() * columns * dtype.bytes();
  }

  private ByteBuffer part(long at, long length) {
    return view.slice((int) at, (int) length).order(LE);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof HiddenStateChunk chunk && Arrays.equals(bytes, chunk.bytes);
  }

  @Override
  public int hashCode() {
    return view.getInt(RecordEnvelope.CHECKSUM_AT);
  }

  @Override
  public String toString() {
    return isTombstone()
        ? "tombstone of " + job() + ": " + reason()
        : "chunk %d/%d of %s: rows %d to %d of %d, [%d + %d] %s"
            .formatted(
                chunk(),
                chunks(),
                job(),
                firstRow(),
                firstRow() + rows(),
                rowsOfJob(),
                tapColumns(),
                finalColumns(),
                dtype);
  }

  /**
   * Writable views of the parts of a chunk to come, little-endian, each from position 0 to its
   * limit; all zero at first. Several threads may fill different parts.
   */
  public static final class Builder {
    private HiddenStateChunk chunk;

    private Builder(byte[] bytes) {
      this.chunk = unchecked(bytes);
    }

    /** int32 {@code [rows]}. */
    public ByteBuffer inputIds() {
      return open().part(chunk.layout.inputIds(), Integer.BYTES * (long) chunk.rows());
    }

    /** uint8 {@code [rows]}. */
    public ByteBuffer lossMask() {
      return open().part(chunk.layout.lossMask(), chunk.rows());
    }

    /** {@code [rows, K·H]} of the dtype. */
    public ByteBuffer taps() {
      return open().part(chunk.layout.taps(), chunk.matrixBytes(chunk.tapColumns()));
    }

    /** {@code [rows, H]} of the dtype. */
    public ByteBuffer finalStates() {
      return open().part(chunk.layout.finalStates(), chunk.matrixBytes(chunk.finalColumns()));
    }

    /** Adds the checksum and gives the chunk away: the views must not be written to any more. */
    public HiddenStateChunk build() {
      HiddenStateChunk built = open();
      RecordEnvelope.seal(built.bytes, built.bytes.length);
      chunk = null;
      return built;
    }

    private HiddenStateChunk open() {
      if (chunk == null) {
        throw new IllegalStateException("This chunk has been built.");
      }
      return chunk;
    }
  }
}
