package org.draftmill.operators.drafter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.draftmill.compute.DType;
import org.draftmill.compute.drafter.HiddenRows;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.JobId;

/**
 * Puts the chunks of each job together again. The hidden states stay where they are; only tokens,
 * masks and documents are copied. Chunks of several jobs may interleave, those of one job come in
 * order.
 */
final class MicrobatchAssembler {
  private final Map<Long, Parts> begun = new HashMap<>(); // by position of the job
  private final int tapColumns;
  private final int finalColumns;

  /**
   * @param tapColumns {@code K·H} that the drafter reads
   * @param finalColumns {@code H}, or 0 if it does not read the target's final states
   */
  MicrobatchAssembler(int tapColumns, int finalColumns) {
    this.tapColumns = tapColumns;
    this.finalColumns = finalColumns;
  }

  /**
   * Takes a chunk; gives the microbatch if it was the last one missing.
   *
   * @throws IllegalStateException if the chunk does not continue its job or has other columns
   */
  Optional<ReceivedMicrobatch> add(Delivery delivery) {
    HiddenStateChunk chunk = delivery.chunk();
    checkColumns(chunk);
    Parts parts = begun.computeIfAbsent(chunk.position(), position -> new Parts(chunk));
    parts.add(chunk, delivery.step());
    if (!parts.complete()) {
      return Optional.empty();
    }
    begun.remove(chunk.position());
    return Optional.of(
        new ReceivedMicrobatch(delivery.step(), chunk.job(), parts.microbatch(finalColumns > 0)));
  }

  /** Jobs of which some chunks are missing. */
  List<JobId> incomplete() {
    return begun.values().stream().map(parts -> parts.first.job()).toList();
  }

  private void checkColumns(HiddenStateChunk chunk) {
    if (chunk.tapColumns() != tapColumns || chunk.finalColumns() < finalColumns) {
      throw new IllegalStateException(
          "The %s has %d tap columns and %d final columns, but the drafter reads %d and %d: target and drafter were given different taps or loss settings."
              .formatted(
                  chunk, chunk.tapColumns(), chunk.finalColumns(), tapColumns, finalColumns));
    }
  }

  private static final class Parts {
    private final HiddenStateChunk first;
    private final int[] inputIds;
    private final byte[] lossMask;
    private final List<HiddenRows> hidden = new ArrayList<>();
    private final List<HiddenStateChunk.Document> documents = new ArrayList<>();
    private long step;
    private int chunks;
    private int rows;

    Parts(HiddenStateChunk first) {
      this.first = first;
      inputIds = new int[first.rowsOfJob()];
      lossMask = new byte[first.rowsOfJob()];
    }

    void add(HiddenStateChunk chunk, long chunkStep) {
      step = chunks == 0 ? chunkStep : step;
      if (chunk.chunk() != chunks
          || chunk.chunks() != first.chunks()
          || chunk.firstRow() != rows
          || chunk.rowsOfJob() != inputIds.length
          || chunkStep != step
          || (chunk.chunk() == chunk.chunks() - 1) != (rows + chunk.rows() == inputIds.length)) {
        throw new IllegalStateException(
            "The %s of step %d does not continue its job: expected was chunk %d/%d from row %d of %d, of step %d."
                .formatted(chunk, chunkStep, chunks, first.chunks(), rows, inputIds.length, step));
      }
      chunk.inputIds().asIntBuffer().get(inputIds, rows, chunk.rows());
      chunk.lossMask().get(lossMask, rows, chunk.rows());
      documents.addAll(chunk.documents());
      hidden.add(
          new HiddenRows(
              rows,
              chunk.rows(),
              chunk.taps(),
              chunk.finalColumns() > 0 ? chunk.finalStates() : null,
              dtype(chunk)));
      rows += chunk.rows();
      chunks++;
    }

    boolean complete() {
      return chunks == first.chunks();
    }

    Microbatch microbatch(boolean withFinalStates) {
      int[] starts = new int[documents.size() + 1];
      long[] sequences = new long[documents.size()];
      int row = 0;
      for (int d = 0; d < sequences.length; d++) {
        HiddenStateChunk.Document document = documents.get(d);
        if (document.firstRow() != row) {
          throw new IllegalStateException(
              "Document %d of %s starts at row %d where the one before it ends at row %d."
                  .formatted(d, first.job(), document.firstRow(), row));
        }
        starts[d] = row;
        sequences[d] = document.sequenceId();
        row += document.length();
      }
      starts[sequences.length] = row;
      if (row != rows) {
        throw new IllegalStateException(
            "The documents of %s have %d rows, its chunks %d.".formatted(first.job(), row, rows));
      }
      List<HiddenRows> read =
          withFinalStates ? hidden : hidden.stream().map(Parts::withoutFinalStates).toList();
      return new Microbatch(first.job().epoch(), sequences, starts, inputIds, lossMask, read);
    }

    private static HiddenRows withoutFinalStates(HiddenRows rows) {
      return new HiddenRows(rows.firstRow(), rows.rows(), rows.taps(), null, rows.dtype());
    }

    private static DType dtype(HiddenStateChunk chunk) {
      return switch (chunk.dtype()) {
        case FLOAT32 -> DType.F32;
        case BFLOAT16 -> DType.BF16;
        case FLOAT16 -> DType.F16;
      };
    }
  }
}
