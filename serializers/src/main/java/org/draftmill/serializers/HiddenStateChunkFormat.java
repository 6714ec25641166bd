package org.draftmill.serializers;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The bytes of a {@link HiddenStateChunk}, version 1. In memory, on the wire, in state and through
 * Kryo they are the same. Little-endian; every part begins on a multiple of eight, the gaps are
 * zero.
 *
 * <pre>
 *   at   size                what
 *   0    16                  {@link RecordEnvelope}: magic "DMHC", version, kind, dtype, checksum, length
 *   16   8   int64           position of the job in the run
 *   24   4   int32           epoch
 *   28   4   int32           index in the epoch's list
 *   32   4   int32           bucket
 *   36   4   int32           chunk number, from 0
 *   40   4   int32           chunks of the job
 *   44   4   int32           first row
 *   48   4   int32  R        rows here
 *   52   4   int32           rows of the job
 *   56   4   int32  T        tap columns, K·H
 *   60   4   int32  F        final columns, H, or 0 where no final states travel
 *   64   4   int32  D        documents that start in these rows
 *   68   4   int32  M        bytes of the reason, 0 unless a tombstone
 *   72   16·D                per document: sequence id int64, first row int32, length int32
 *   …    4·R, padded         input_ids int32 [R]
 *   …    R, padded           loss_mask uint8 [R]
 *   …    R·T·b, padded       taps [R, T] of the dtype, b bytes each
 *   …    R·F·b, padded       final states [R, F]
 *   …    M, padded           reason, UTF-8
 * </pre>
 *
 * The checksum covers the whole record but itself. Rows, and the rows of documents, count from the
 * start of the job; a document may run on into later chunks. A tombstone ({@code kind} 1) stands
 * for a job without hidden states: one chunk, no rows, a reason.
 */
public final class HiddenStateChunkFormat {
  public static final int VERSION = 1;

  static final int HIDDEN = 0;
  static final int TOMBSTONE = 1;

  static final int POSITION_AT = 16;
  static final int EPOCH_AT = 24;
  static final int INDEX_AT = 28;
  static final int BUCKET_AT = 32;
  static final int CHUNK_AT = 36;
  static final int CHUNKS_AT = 40;
  static final int FIRST_ROW_AT = 44;
  static final int ROWS_AT = 48;
  static final int ROWS_OF_JOB_AT = 52;
  static final int TAP_COLUMNS_AT = 56;
  static final int FINAL_COLUMNS_AT = 60;
  static final int DOCUMENTS_AT = 64;
  static final int REASON_BYTES_AT = 68;
  static final int HEADER_BYTES = 72;
  static final int DOCUMENT_BYTES = 16;

  /** The header, and the most that padding adds to the four parts. */
  private static final int FIXED_BYTES = HEADER_BYTES + 4 * (Long.BYTES - 1);

  static final RecordEnvelope.Format FORMAT =
      new RecordEnvelope.Format("hidden state chunk", "DMHC", VERSION, HEADER_BYTES);

  private HiddenStateChunkFormat() {}

  /** Where each part begins, all from the lengths in the header. */
  record Layout(
      long documents,
      long inputIds,
      long lossMask,
      long taps,
      long finalStates,
      long reason,
      long end) {
    static Layout of(
        long rows,
        long tapColumns,
        long finalColumns,
        HiddenDType dtype,
        long documents,
        long reason) {
      long inputIds = HEADER_BYTES + DOCUMENT_BYTES * documents;
      long lossMask = inputIds + RecordEnvelope.padded(4 * rows);
      long taps = lossMask + RecordEnvelope.padded(rows);
      long finals = taps + RecordEnvelope.padded(matrixBytes(rows, tapColumns, dtype));
      long text = finals + RecordEnvelope.padded(matrixBytes(rows, finalColumns, dtype));
      long end = text + RecordEnvelope.padded(reason);
      return new Layout(HEADER_BYTES, inputIds, lossMask, taps, finals, text, end);
    }

    static Layout of(ByteBuffer record, HiddenDType dtype) {
      return of(
          record.getInt(ROWS_AT),
          record.getInt(TAP_COLUMNS_AT),
          record.getInt(FINAL_COLUMNS_AT),
          dtype,
          record.getInt(DOCUMENTS_AT),
          record.getInt(REASON_BYTES_AT));
    }

    /** Saturates, far above every record that is accepted, where hostile lengths would overflow. */
    private static long matrixBytes(long rows, long columns, HiddenDType dtype) {
      return Math.min(rows * columns, 1L << 40) * dtype.bytes();
    }
  }

  /**
   * Size of a chunk of hidden states.
   *
   * @return bytes, more than a record can have where the rows are too many
   */
  public static long bytes(
      int rows, int tapColumns, int finalColumns, HiddenDType dtype, int documents) {
    return Layout.of(rows, tapColumns, finalColumns, dtype, documents, 0).end();
  }

  /**
   * How many rows fit into a chunk of at most {@code chunkBytes}, whatever documents start in them.
   *
   * @return 0 where not even one row fits
   */
  public static int rowsThatFit(
      long chunkBytes, int tapColumns, int finalColumns, HiddenDType dtype) {
    long bytes = Math.min(chunkBytes, RecordEnvelope.MAX_RECORD_BYTES) - FIXED_BYTES;
    return (int) Math.max(0, bytes / bytesPerRow(tapColumns, finalColumns, dtype));
  }

  /** The smallest size of a chunk into which a row surely fits. */
  public static long smallestChunk(int tapColumns, int finalColumns, HiddenDType dtype) {
    return FIXED_BYTES + bytesPerRow(tapColumns, finalColumns, dtype);
  }

  /** A row, and a document that starts in it. */
  private static long bytesPerRow(int tapColumns, int finalColumns, HiddenDType dtype) {
    return DOCUMENT_BYTES + Integer.BYTES + 1 + dtype.bytes() * ((long) tapColumns + finalColumns);
  }

  /**
   * The chunk that {@code record} holds. The array is kept, not copied: nobody may write to it
   * afterwards. Allocates nothing that depends on what the bytes say.
   *
   * @throws RecordFormatException if they are not one whole, undamaged chunk of a known version
   */
  public static HiddenStateChunk parse(byte[] record) throws RecordFormatException {
    RecordEnvelope.checkWhole(record, FORMAT);
    RecordEnvelope.verify(record, record.length, FORMAT);
    checkContent(RecordEnvelope.view(record));
    return new HiddenStateChunk(record);
  }

  /** Checks everything behind the envelope: lengths first, then what the fields say. */
  static void checkContent(ByteBuffer record) throws RecordFormatException {
    checkFieldsNotNegative(record);
    HiddenDType dtype = HiddenDType.ofCode(record.get(RecordEnvelope.DTYPE_AT));
    Layout layout = Layout.of(record, dtype);
    if (layout.end() != record.limit()) {
      throw defect(
          record, "its lengths add up to " + layout.end() + " bytes, it has " + record.limit());
    }
    int kind = record.get(RecordEnvelope.KIND_AT);
    switch (kind) {
      case HIDDEN -> checkRows(record);
      case TOMBSTONE -> checkTombstone(record);
      default -> throw defect(record, "its kind is " + kind + ", known are 0 and 1");
    }
  }

  private static void checkFieldsNotNegative(ByteBuffer record) throws RecordFormatException {
    if (record.getLong(POSITION_AT) < 0) {
      throw defect(record, "its position is negative");
    }
    for (int at = EPOCH_AT; at < HEADER_BYTES; at += Integer.BYTES) {
      if (record.getInt(at) < 0) {
        throw defect(record, "the field at byte " + at + " is " + record.getInt(at));
      }
    }
  }

  private static void checkRows(ByteBuffer record) throws RecordFormatException {
    int chunk = record.getInt(CHUNK_AT);
    int chunks = record.getInt(CHUNKS_AT);
    long first = record.getInt(FIRST_ROW_AT);
    long end = first + record.getInt(ROWS_AT);
    int ofJob = record.getInt(ROWS_OF_JOB_AT);
    if (end == first || record.getInt(TAP_COLUMNS_AT) == 0 || record.getInt(REASON_BYTES_AT) != 0) {
      throw defect(record, "it has no rows, no tap columns, or a reason without being a tombstone");
    }
    boolean isFirst = chunk == 0;
    boolean isLast = chunk == chunks - 1;
    if (chunk >= chunks || end > ofJob || isFirst != (first == 0) || isLast != (end == ofJob)) {
      throw defect(
          record,
          "chunk %d of %d cannot hold rows %d to %d of %d"
              .formatted(chunk, chunks, first, end, ofJob));
    }
    checkDocuments(record, first, end, ofJob);
  }

  private static void checkDocuments(ByteBuffer record, long first, long end, int ofJob)
      throws RecordFormatException {
    int documents = record.getInt(DOCUMENTS_AT);
    long next = -1;
    for (int d = 0; d < documents; d++) {
      int at = HEADER_BYTES + d * DOCUMENT_BYTES;
      long start = record.getInt(at + 8);
      long length = record.getInt(at + 12);
      boolean follows = next < 0 ? start >= first : start == next;
      next = start + length;
      if (record.getLong(at) < 0 || length <= 0 || !follows || start >= end || next > ofJob) {
        throw defect(
            record,
            "document %d of sequence %d cannot be rows %d to %d"
                .formatted(d, record.getLong(at), start, next));
      }
    }
    boolean startsWithDocument = documents > 0 && record.getInt(HEADER_BYTES + 8) == first;
    if (first == 0 && !startsWithDocument) {
      throw defect(record, "no document starts at row 0");
    }
    if (documents > 0 && next < end) {
      throw defect(record, "rows " + next + " to " + end + " belong to no document");
    }
  }

  private static void checkTombstone(ByteBuffer record) throws RecordFormatException {
    boolean empty =
        record.getInt(CHUNK_AT) == 0
            && record.getInt(CHUNKS_AT) == 1
            && record.getInt(FIRST_ROW_AT) == 0
            && record.getInt(ROWS_AT) == 0
            && record.getInt(TAP_COLUMNS_AT) == 0
            && record.getInt(FINAL_COLUMNS_AT) == 0
            && record.getInt(DOCUMENTS_AT) == 0;
    if (!empty) {
      throw defect(record, "a tombstone is one chunk without rows, columns and documents");
    }
  }

  private static RecordFormatException defect(ByteBuffer record, String what) {
    return new RecordFormatException(
        "The hidden state chunk of job %d cannot be right: %s."
            .formatted(record.getLong(POSITION_AT), what));
  }

  /** A zeroed record with its header and documents; parts and checksum are still to come. */
  static byte[] start(
      JobId job, HiddenStateChunk.Shape shape, List<HiddenStateChunk.Document> documents) {
    Layout layout =
        Layout.of(
            shape.rows(),
            shape.tapColumns(),
            shape.finalColumns(),
            shape.dtype(),
            documents.size(),
            0);
    ByteBuffer record = allocate(layout, HIDDEN, shape.dtype(), job);
    record.putInt(CHUNK_AT, shape.chunk());
    record.putInt(CHUNKS_AT, shape.chunks());
    record.putInt(FIRST_ROW_AT, shape.firstRow());
    record.putInt(ROWS_AT, shape.rows());
    record.putInt(ROWS_OF_JOB_AT, shape.rowsOfJob());
    record.putInt(TAP_COLUMNS_AT, shape.tapColumns());
    record.putInt(FINAL_COLUMNS_AT, shape.finalColumns());
    record.putInt(DOCUMENTS_AT, documents.size());
    int at = HEADER_BYTES;
    for (HiddenStateChunk.Document document : documents) {
      record.putLong(at, document.sequenceId());
      record.putInt(at + 8, document.firstRow());
      record.putInt(at + 12, document.length());
      at += DOCUMENT_BYTES;
    }
    try {
      checkContent(record);
    } catch (RecordFormatException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    return record.array();
  }

  /** A whole tombstone. */
  static byte[] tombstone(JobId job, int rowsOfJob, String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    Layout layout = Layout.of(0, 0, 0, HiddenDType.FLOAT32, 0, text.length);
    ByteBuffer record = allocate(layout, TOMBSTONE, HiddenDType.FLOAT32, job);
    record.putInt(CHUNKS_AT, 1);
    record.putInt(ROWS_OF_JOB_AT, rowsOfJob);
    record.putInt(REASON_BYTES_AT, text.length);
    record.put((int) layout.reason(), text);
    RecordEnvelope.seal(record.array(), record.limit());
    return record.array();
  }

  private static ByteBuffer allocate(Layout layout, int kind, HiddenDType dtype, JobId job) {
    if (layout.end() > RecordEnvelope.MAX_RECORD_BYTES) {
      throw new IllegalArgumentException(
          "A chunk of %d bytes for %s is too large: at most %d bytes are possible."
              .formatted(layout.end(), job, RecordEnvelope.MAX_RECORD_BYTES));
    }
    ByteBuffer record = RecordEnvelope.view(new byte[(int) layout.end()]);
    RecordEnvelope.start(record, FORMAT, kind, dtype.code(), record.limit());
    record.putLong(POSITION_AT, job.position());
    record.putInt(EPOCH_AT, job.epoch());
    record.putInt(INDEX_AT, job.index());
    record.putInt(BUCKET_AT, job.bucket());
    return record;
  }
}
