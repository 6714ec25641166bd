package org.draftmill.operators.target;

import org.draftmill.operators.jobs.ExtractionJob;

/**
 * A job with its tokens, packed without padding.
 *
 * @param job whose sequences these are, one a document
 * @param inputIds {@code [rows]}
 * @param lossMask {@code [rows]} 1 where the token is supervised
 * @param documentStarts {@code [documents + 1]} first row of each document, the last entry is the
 *     number of rows
 */
public record PackedBatch(
    ExtractionJob job, int[] inputIds, byte[] lossMask, int[] documentStarts) {
  public int rows() {
    return inputIds.length;
  }
}
