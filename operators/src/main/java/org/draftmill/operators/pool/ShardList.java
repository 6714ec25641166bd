package org.draftmill.operators.pool;

/**
 * The share of one shard (logical pool) in the list of all jobs: closed forms of where its jobs
 * stand and which of its releases belong to which step. A <em>place</em> is an index in the shard's
 * own list, a <em>position</em> one in the list of the whole run.
 *
 * @param shard index, from 0
 * @param shards in all
 * @param jobs in the whole run
 * @param accumulation microbatches of a step, of all shards together
 */
record ShardList(int shard, int shards, long jobs, int accumulation) {

  /** Jobs of this shard. */
  long size() {
    return below(jobs);
  }

  /** Position in the run of the job at a place. */
  long position(long place) {
    return place * shards + shard;
  }

  /** Place of the job at a position, which must be this shard's. */
  long place(long position) {
    if (position < 0 || position >= jobs || position % shards != shard) {
      throw new IllegalArgumentException(
          "Position %d is not of shard %d of %d in a run of %d jobs."
              .formatted(position, shard, shards, jobs));
    }
    return position / shards;
  }

  /** Optimizer steps of the run; the last one may be smaller than the others. */
  long steps() {
    return (jobs + accumulation - 1) / accumulation;
  }

  /** Releases of this shard in all steps before one, which is at most {@link #steps()}. */
  long releasesBefore(long step) {
    return below(Math.min(step * accumulation, jobs));
  }

  /** How many of the numbers below a bound are this shard's. */
  private long below(long bound) {
    return bound > shard ? (bound - shard - 1) / shards + 1 : 0;
  }
}
