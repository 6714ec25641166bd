package org.draftmill.compute.drafter;

import java.util.List;

/**
 * One job's worth of training data: packed documents with the target's hidden states.
 *
 * @param epoch pass over the dataset, from 0; anchors are drawn from (seed, epoch, sequence id)
 * @param sequenceIds {@code [documents]}
 * @param documentStarts {@code [documents + 1]} first row of each document, the last entry is the
 *     number of rows
 * @param inputIds {@code [rows]}
 * @param lossMask {@code [rows]} 1 where the token is supervised
 * @param hidden covers all rows once, in order
 */
public record Microbatch(
    int epoch,
    long[] sequenceIds,
    int[] documentStarts,
    int[] inputIds,
    byte[] lossMask,
    List<HiddenRows> hidden) {
  public int rows() {
    return inputIds.length;
  }

  public int documents() {
    return sequenceIds.length;
  }
}
