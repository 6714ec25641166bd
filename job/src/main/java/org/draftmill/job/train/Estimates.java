package org.draftmill.job.train;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterMemory;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetMemory;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.config.KnownOptions;
import org.draftmill.job.console.Text;
import org.draftmill.job.train.MemoryEstimate.Item;
import org.draftmill.operators.gpu.DeviceLease;

/** What the parts of a run take of the memory of hosts and of GPUs. */
final class Estimates {
  private static final long MB = 1L << 20;

  /** Flink itself: its RPC system, web UI, network stack and the heap's own slack. */
  private static final long FLINK_BYTES = 256 * MB;

  /** Flink's default for local execution. */
  private static final long NETWORK_BYTES = 64 * MB;

  /**
   * Workspaces on the heap take arrays of size classes, each at most a quarter too long; a GPU
   * takes about as much for operands of products in bf16.
   */
  private static final double WORKSPACE_ROUNDING = 1.25;

  /** Of masters and both moments, shared out among the drafters; and of each drafter's sums. */
  static final long SHARED_BYTES = 3L * Float.BYTES;

  static final long SUM_BYTES = Long.BYTES;

  /** A GPU multiplies with bfloat16. */
  private static final long ARRANGED_BYTES = 2;

  /** An exported weight is a bfloat16. */
  private static final long EXPORT_BYTES = 2;

  /** Header, metadata and rounding up to blocks of the file system. */
  private static final long FILE_BYTES = 16 << 10;

  /** Microbatches that a target and its drafter hold besides the pool: in flight and prefetched. */
  static final int IN_FLIGHT = 3;

  private Estimates() {}

  /**
   * @param autoIsGpu whether the device {@code auto} is a GPU where the run will be
   */
  static MemoryEstimate of(ResolvedRun run, boolean autoIsGpu) {
    boolean targetOnGpu = onGpu(run.target().device(), autoIsGpu);
    boolean drafterOnGpu = onGpu(run.drafter().device(), autoIsGpu);
    DrafterConfig config = run.drafter().shape(run.targetConfig());
    long parameters = new ParameterLayout(config).size();
    DrafterMemory memory = drafter(run, config, drafterOnGpu);
    long drafterDevice = memory.device() + head(config, drafterOnGpu);
    long targetDevice = targetBytes(run, targetOnGpu);
    long drafter = memory.host() + (drafterOnGpu ? 0 : drafterDevice);
    long ofTarget = targetOnGpu ? 0 : targetDevice;
    int drafters = run.drafter().parallelism();
    long jobBytes = run.pool().run().largestJobBytes();
    long pooled = pooledBytes(run);
    long inFlight = (run.targets() + drafters) * inFlightBytes(run);
    return new MemoryEstimate(
        List.of(
            new Item(
                "targets",
                run.targets() + " × " + Text.bytes(ofTarget),
                run.targets() * ofTarget,
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
            new Item(
                "network",
                "buffers",
                networkBytes(run.options()),
                "flink.taskmanager.memory.network.max"),
            new Item("Flink", "itself", FLINK_BYTES, "nothing")),
        gpus(targetOnGpu, targetDevice, drafterOnGpu, drafterDevice),
        diskBytes(run, pooled, parameters));
  }

  private static boolean onGpu(String device, boolean autoIsGpu) {
    return device.equals(DeviceLease.CUDA) || device.equals(DeviceLease.AUTO) && autoIsGpu;
  }

  private static List<Item> gpus(
      boolean targetOnGpu, long target, boolean drafterOnGpu, long drafter) {
    List<Item> gpus = new ArrayList<>();
    if (targetOnGpu) {
      gpus.add(new Item("target", "on its GPU", target, "jobs.token-budget"));
    }
    if (drafterOnGpu) {
      gpus.add(
          new Item(
              "drafter",
              "on its GPU",
              drafter,
              "drafter.layers or drafter.pass-rows, or let more drafters share its moments"
                  + " (drafter.parallelism)"));
    }
    return gpus;
  }

  /** What the pool holds at most, all its shards together. */
  static long pooledBytes(ResolvedRun run) {
    long jobBytes = run.pool().run().largestJobBytes();
    return run.pool().shards()
        * Math.min(run.pool().maxReady() * jobBytes, run.pool().maxMemoryBytes());
  }

  /** Hidden states that one target or one drafter holds besides the pool. */
  static long inFlightBytes(ResolvedRun run) {
    return IN_FLIGHT * run.pool().run().largestJobBytes();
  }

  /** What one drafter copies of its state to write it down. */
  static long drafterStateBytes(ResolvedRun run) {
    long parameters = new ParameterLayout(run.drafter().shape(run.targetConfig())).size();
    return parameters * SHARED_BYTES / run.drafter().parallelism() + parameters * SUM_BYTES;
  }

  private static DrafterMemory drafter(ResolvedRun run, DrafterConfig config, boolean onGpu) {
    return DrafterMemory.estimate(
        config,
        run.drafter().training(),
        run.plan().manifest().largestJobTokens(),
        run.plan().manifest().largestJobSequences(),
        run.drafter().parallelism(),
        onGpu);
  }

  /** The target's embedding and vocabulary head, which a drafter borrows, and one on its way in. */
  private static long head(DrafterConfig config, boolean onGpu) {
    long table = (long) config.vocabularySize() * config.hiddenSize();
    return table * (2 * Float.BYTES + (onGpu ? ARRANGED_BYTES : 0));
  }

  private static long targetBytes(ResolvedRun run, boolean onGpu) {
    TargetMemory memory =
        TargetMemory.forExtraction(
            run.targetConfig(),
            new Taps(run.target().taps()),
            run.target().finalStates(),
            run.plan().manifest().largestJobTokens(),
            onGpu);
    return memory.weights() + (long) (WORKSPACE_ROUNDING * memory.activations()) + memory.results();
  }

  /** What the user's {@code flink.taskmanager.memory.network.*} say, else the default. */
  static long networkBytes(Configuration options) {
    return Stream.of(
            TaskManagerOptions.NETWORK_MEMORY_MIN.key(),
            TaskManagerOptions.NETWORK_MEMORY_MAX.key())
        .map(key -> options.getString(KnownOptions.FLINK_PREFIX + key, null))
        .filter(Objects::nonNull)
        .mapToLong(MemorySize::parseBytes)
        .max()
        .orElse(NETWORK_BYTES);
  }

  /**
   * Of checkpoints, what Flink keeps and one that is being written; of drafters' states one more,
   * since they go when Flink has let go of the checkpoint; and of exports those that are kept, the
   * latest and one that is being written. If all exports are kept, the others are not counted.
   */
  private static long diskBytes(ResolvedRun run, long pooled, long parameters) {
    int kept = run.options().get(CheckpointOptions.KEEP);
    long drafters = run.drafter().parallelism();
    long state = parameters * (SHARED_BYTES + drafters * SUM_BYTES) + drafters * FILE_BYTES;
    long exports = 2;
    if (run.drafter().keepExports() != Integer.MAX_VALUE) {
      exports += Math.min(run.drafter().keepExports(), run.steps());
    }
    return (kept + 1) * pooled
        + (kept + 2) * state
        + exports * (parameters * EXPORT_BYTES + FILE_BYTES);
  }
}
