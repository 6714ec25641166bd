package org.draftmill.job.train;

import java.util.List;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterMemory;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetMemory;
import org.draftmill.job.cli.Text;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.train.MemoryEstimate.Item;

/** What the parts of a run take on host backends, where every value is a float. */
final class Estimates {
  private static final long MB = 1L << 20;

  /** Flink itself: its RPC system, web UI, network stack and the heap's own slack. */
  private static final long FLINK_BYTES = 256 * MB;

  /** Flink's default for local execution. */
  static final long NETWORK_BYTES = 64 * MB;

  /** Microbatches that a target and its drafter hold besides the pool: in flight and prefetched. */
  private static final int IN_FLIGHT = 3;

  private Estimates() {}

  static MemoryEstimate of(ResolvedRun run) {
    TargetMemory target =
        TargetMemory.forExtraction(
            run.targetConfig(),
            new Taps(run.target().taps()),
            run.target().finalStates(),
            run.plan().manifest().largestJobTokens());
    DrafterConfig config = run.drafter().shape(run.targetConfig());
    long parameters = new ParameterLayout(config).size();
    long drafter = drafterBytes(run, config);
    int drafters = run.drafter().parallelism();
    long jobBytes = run.pool().run().largestJobBytes();
    long pooled =
        Math.min(
            (long) run.pool().maxReady() * jobBytes * run.pool().shards(),
            run.pool().maxMemoryBytes() * run.pool().shards());
    long inFlight = (long) IN_FLIGHT * (run.targets() + drafters) * jobBytes;
    return new MemoryEstimate(
        List.of(
            new Item(
                "targets",
                run.targets() + " × " + Text.bytes(target.total()),
                run.targets() * target.total(),
                "target.parallelism or jobs.token-budget"),
            new Item(
                "drafters",
                drafters + " × " + Text.bytes(drafter),
                drafters * drafter,
                "drafter.parallelism, drafter.layers or drafter.pass-rows"),
            new Item(
                "pool",
                "%d microbatches of up to %s"
                    .formatted(run.pool().maxReady() * run.pool().shards(), Text.bytes(jobBytes)),
                pooled,
                "pool.max-ready or pool.max-memory"),
            new Item("in flight", "between the stages", inFlight, "jobs.token-budget"),
            new Item("network", "buffers", NETWORK_BYTES, "flink.taskmanager.memory.network.max"),
            new Item("Flink", "itself", FLINK_BYTES, "nothing")),
        diskBytes(run, pooled, parameters));
  }

  /** The drafter itself, and the target's embedding and vocabulary head, which it borrows. */
  private static long drafterBytes(ResolvedRun run, DrafterConfig config) {
    DrafterMemory memory =
        DrafterMemory.estimate(
            config,
            run.drafter().training(),
            run.plan().manifest().largestJobTokens(),
            run.plan().manifest().largestJobSequences(),
            run.drafter().parallelism());
    long head = 2L * Float.BYTES * config.vocabularySize() * config.hiddenSize();
    return memory.device() + memory.host() + head;
  }

  /** What Flink keeps at most, and one more that is being written. */
  private static long diskBytes(ResolvedRun run, long pooled, long parameters) {
    int kept = run.options().get(CheckpointOptions.KEEP) + 1;
    return kept * (pooled + parameters * (3L * Float.BYTES + Long.BYTES));
  }
}
