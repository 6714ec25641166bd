package org.draftmill.compute.drafter;

/**
 * What one drafter must write down so that the run can go on: its shard of the weights and of the
 * moments, and what it has added up of a step that is not done. A copy: the drafter may train on
 * while another thread writes it with {@link DrafterStateFiles#write}.
 *
 * @param run what the run is pinned to
 * @param rank number of the drafter among {@code size}
 * @param step number of the step that is being accumulated
 * @param updates of the weights so far: steps that were neither empty nor skipped
 * @param from first parameter of the shard
 * @param parameters of the whole drafter
 * @param weights {@code [shard]}
 * @param firstMoments {@code [shard]}
 * @param secondMoments {@code [shard]}
 * @param gradientSums {@code [parameters]}, null between two steps
 * @param scalarSums as in {@link StepSums}, null between two steps
 */
public record DrafterState(
    PinnedRun run,
    int rank,
    int size,
    long step,
    long updates,
    int from,
    int parameters,
    float[] weights,
    float[] firstMoments,
    float[] secondMoments,
    long[] gradientSums,
    long[] scalarSums) {

  /** Bytes that are copied when the snapshot is taken. */
  public long bytes() {
    long sums = gradientSums == null ? 0 : 8L * (gradientSums.length + scalarSums.length);
    return 12L * weights.length + sums;
  }
}
