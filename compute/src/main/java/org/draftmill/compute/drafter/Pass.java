package org.draftmill.compute.drafter;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.draftmill.compute.ops.Blocks;

/**
 * What one forward and backward pass works on: the draft blocks of some documents of a microbatch,
 * as row numbers. Documents without an anchor are not in it, and a document's context ends with the
 * last row that any of its blocks sees.
 */
final class Pass {
  private final Microbatch microbatch;
  private final int blockSize;
  private final int[] documentRow; // [documents] first row of each in the microbatch
  private final int[] contextStarts; // [documents + 1] first context row of each
  private final int[] contextStart; // [blocks] that of the block's document
  private final int[] anchor; // [blocks] position in the document
  private final int[] anchorRow; // [blocks] row of the microbatch
  private final int[] lastRow; // [blocks] last row of the block's document

  /**
   * The documents {@code first … end − 1}.
   *
   * @param anchors {@code [documents of the microbatch][anchors]}
   */
  Pass(Microbatch microbatch, int blockSize, int first, int end, int[][] anchors) {
    this.microbatch = microbatch;
    this.blockSize = blockSize;
    int[] documents =
        IntStream.range(first, end).filter(document -> anchors[document].length > 0).toArray();
    int blocks = Arrays.stream(documents).map(document -> anchors[document].length).sum();
    documentRow = new int[documents.length];
    contextStarts = new int[documents.length + 1];
    contextStart = new int[blocks];
    anchor = new int[blocks];
    anchorRow = new int[blocks];
    lastRow = new int[blocks];
    int block = 0;
    for (int d = 0; d < documents.length; d++) {
      documentRow[d] = microbatch.documentStarts()[documents[d]];
      for (int position : anchors[documents[d]]) {
        contextStart[block] = contextStarts[d];
        anchor[block] = position;
        anchorRow[block] = documentRow[d] + position;
        lastRow[block++] = microbatch.documentStarts()[documents[d] + 1] - 1;
      }
      // At least one row, so that no matrix is empty; a block at position 0 does not see it.
      contextStarts[d + 1] = contextStarts[d] + Math.max(1, anchor[block - 1]);
    }
  }

  /** First row of the microbatch that belongs to it. */
  int firstRow() {
    return documentRow[0];
  }

  /** Row of the microbatch after the last one of its last document. */
  int endRow() {
    return lastRow[lastRow.length - 1] + 1;
  }

  /** Rows of the draft queries, {@code blocks·B}. */
  int queryRows() {
    return anchor.length * blockSize;
  }

  /** Drafted slots, {@code blocks·(B − 1)}. */
  int slots() {
    return anchor.length * (blockSize - 1);
  }

  int contextRows() {
    return contextStarts[contextStarts.length - 1];
  }

  Blocks blocks(int window) {
    return new Blocks(blockSize, contextStart, anchor, window);
  }

  /** Rows of the microbatch that are the context, as ranges: calls {@code range(from, to, at)}. */
  void forEachContextRange(RangeConsumer ranges) {
    for (int d = 0; d + 1 < contextStarts.length; d++) {
      int length = contextStarts[d + 1] - contextStarts[d];
      ranges.accept(documentRow[d], documentRow[d] + length, contextStarts[d]);
    }
  }

  /** Takes rows {@code from … to − 1} of the microbatch that go to row {@code at} and after. */
  interface RangeConsumer {
    void accept(int from, int to, int at);
  }

  /** Position of each context row in its document, {@code [contextRows]}. */
  int[] contextPositions() {
    int[] positions = new int[contextRows()];
    forEachContextRange(
        (from, to, at) -> {
          for (int i = 0; i < to - from; i++) {
            positions[at + i] = i;
          }
        });
    return positions;
  }

  /** Position of each query row in its document, {@code [queryRows]}. */
  int[] queryPositions() {
    int[] positions = new int[queryRows()];
    Arrays.setAll(positions, row -> anchor[row / blockSize] + row % blockSize);
    return positions;
  }

  /** The distinct inputs of the blocks: the mask token, then every block's anchor. */
  int[] distinctTokens(int maskToken) {
    int[] tokens = new int[1 + anchor.length];
    tokens[0] = maskToken;
    for (int b = 0; b < anchor.length; b++) {
      tokens[1 + b] = microbatch.inputIds()[anchorRow[b]];
    }
    return tokens;
  }

  /** Which of {@link #distinctTokens} each query row is, {@code [queryRows]}. */
  int[] distinctOfQuery() {
    int[] distinct = new int[queryRows()];
    for (int b = 0; b < anchor.length; b++) {
      distinct[b * blockSize] = 1 + b;
    }
    return distinct;
  }

  /** The query row of each drafted slot, {@code [slots]}. */
  int[] slotRows() {
    int slots = blockSize - 1;
    int[] rows = new int[slots()];
    Arrays.setAll(rows, slot -> slot / slots * blockSize + 1 + slot % slots);
    return rows;
  }

  /** The token that each slot should draft, the document's last one beyond its end. */
  int[] labels() {
    int[] labels = new int[slots()];
    Arrays.setAll(labels, slot -> microbatch.inputIds()[labelRow(slot)]);
    return labels;
  }

  /** m of each slot: 1 where its token is inside the document and supervised. */
  byte[] supervised() {
    byte[] supervised = new byte[slots()];
    for (int slot = 0; slot < supervised.length; slot++) {
      if (wantedRow(slot) <= lastRow[blockOf(slot)]) {
        supervised[slot] = microbatch.lossMask()[wantedRow(slot)];
      }
    }
    return supervised;
  }

  /** Row of the microbatch whose final state teaches each slot: the one before its label. */
  int[] teacherRows() {
    int[] rows = new int[slots()];
    Arrays.setAll(rows, slot -> labelRow(slot) - 1);
    return rows;
  }

  private int blockOf(int slot) {
    return slot / (blockSize - 1);
  }

  private int wantedRow(int slot) {
    return anchorRow[blockOf(slot)] + 1 + slot % (blockSize - 1);
  }

  private int labelRow(int slot) {
    return Math.min(wantedRow(slot), lastRow[blockOf(slot)]);
  }
}
