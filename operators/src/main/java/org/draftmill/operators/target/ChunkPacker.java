package org.draftmill.operators.target;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.HiddenStateChunkFormat;

/** Cuts the hidden states of a job into chunks of a size, and rounds them straight into these. */
final class ChunkPacker {
  private static final int FLOAT16_NOT_FINITE = 0x7c00; // all bits of the exponent

  private final long chunkBytes;
  private final HiddenDType dtype;

  ChunkPacker(long chunkBytes, HiddenDType dtype) {
    this.chunkBytes = chunkBytes;
    this.dtype = dtype;
  }

  /**
   * All rows of a job, in order.
   *
   * @return nothing if a state is too large for the dtype
   */
  Optional<List<HiddenStateChunk>> pack(PackedBatch batch, HiddenStates states) {
    int rowsPerChunk =
        HiddenStateChunkFormat.rowsThatFit(
            chunkBytes, states.tapColumns(), states.finalColumns(), dtype);
    if (rowsPerChunk == 0) {
      throw new IllegalArgumentException(
          "A chunk of %d bytes cannot hold a row of %d + %d %s values."
              .formatted(chunkBytes, states.tapColumns(), states.finalColumns(), dtype));
    }
    int count = (batch.rows() + rowsPerChunk - 1) / rowsPerChunk;
    List<HiddenStateChunk> chunks = new ArrayList<>(count);
    for (int chunk = 0; chunk < count; chunk++) {
      int first = chunk * rowsPerChunk;
      int rows = Math.min(rowsPerChunk, batch.rows() - first);
      HiddenStateChunk.Shape shape =
          new HiddenStateChunk.Shape(
              chunk,
              count,
              first,
              rows,
              batch.rows(),
              states.tapColumns(),
              states.finalColumns(),
              dtype);
      HiddenStateChunk packed = pack(batch, states, shape);
      if (!isFinite(packed.taps()) || !isFinite(packed.finalStates())) {
        return Optional.empty();
      }
      chunks.add(packed);
    }
    return Optional.of(chunks);
  }

  private HiddenStateChunk pack(
      PackedBatch batch, HiddenStates states, HiddenStateChunk.Shape shape) {
    int first = shape.firstRow();
    int end = first + shape.rows();
    HiddenStateChunk.Builder builder =
        HiddenStateChunk.builder(batch.job().id(), shape, documents(batch, first, end));
    builder.inputIds().asIntBuffer().put(batch.inputIds(), first, shape.rows());
    builder.lossMask().put(batch.lossMask(), first, shape.rows());
    states.encodeTaps(first, end, dtype, builder.taps());
    if (shape.finalColumns() > 0) {
      states.encodeFinal(first, end, dtype, builder.finalStates());
    }
    return builder.build();
  }

  /** Those that start in the rows {@code first} to {@code end − 1}. */
  private static List<HiddenStateChunk.Document> documents(PackedBatch batch, int first, int end) {
    ExtractionJob job = batch.job();
    int[] starts = batch.documentStarts();
    List<HiddenStateChunk.Document> documents = new ArrayList<>();
    for (int d = 0; d < job.sequenceIds().length; d++) {
      if (starts[d] >= first && starts[d] < end) {
        documents.add(
            new HiddenStateChunk.Document(
                job.sequenceIds()[d], starts[d], starts[d + 1] - starts[d]));
      }
    }
    return documents;
  }

  /** The states were finite before they were rounded; only float16 can overflow. */
  private boolean isFinite(ByteBuffer rounded) {
    if (dtype == HiddenDType.FLOAT16) {
      while (rounded.hasRemaining()) {
        if ((rounded.getShort() & FLOAT16_NOT_FINITE) == FLOAT16_NOT_FINITE) {
          return false;
        }
      }
    }
    return true;
  }
}
