package org.draftmill.compute.drafter;

/**
 * Bytes that a drafter will need, for the check before a run starts. On host backends the device's
 * part and the host's are the same memory.
 *
 * @param weights on the device: arranged for products, forward and backward, those of the
 *     vocabulary head backward, and the largest tensor while it is arranged
 * @param activations on the device: one pass, with its gradients and the chunk of logits
 * @param masters on the device: fp32 weights
 * @param moments on the device: both moments of one drafter's shard
 * @param sums on the device: 64-bit sums of the gradient
 * @param exchange on the host, beside a GPU: arrays through which sums and weights go to other
 *     drafters and into files
 * @param checkpoint on the host, while a checkpoint is written and published: a copy of the shard
 *     and of the sums, and all weights once more
 */
public record DrafterMemory(
    long weights,
    long activations,
    long masters,
    long moments,
    long sums,
    long exchange,
    long checkpoint) {

  /** Workspaces hold a little more than they hand out. */
  private static final double ROUNDING = 1.125;

  /**
   * For microbatches up to a size.
   *
   * @param tokens of the largest microbatch
   * @param documents most documents of a microbatch
   * @param drafters how many share the moments
   * @param onGpu whether it computes on a GPU, which keeps weights once and in bf16
   */
  public static DrafterMemory estimate(
      DrafterConfig config,
      DrafterSettings settings,
      long tokens,
      long documents,
      int drafters,
      boolean onGpu) {
    ParameterLayout layout = new ParameterLayout(config);
    long parameters = layout.size();
    long largest =
        layout.parameters().stream().mapToLong(ParameterLayout.Parameter::size).max().orElse(0);
    long documentRows = Math.min(settings.anchors(), tokens) * config.blockSize();
    long queryRows =
        Math.min(
            Math.max(documentRows, settings.passRows()),
            Math.min(documents * documentRows, tokens * config.blockSize()));
    long logits = 3L * Math.min(settings.chunkRows(config), queryRows) * config.vocabularySize();
    long teacher = settings.loss().useSoftLabels() ? tokens * config.hiddenSize() : 0;
    long gradients = Math.max(layerParameters(config), layout.fc().size());
    long floats =
        queryRows * queryRowFloats(config)
            + tokens * contextRowFloats(config)
            + Math.max(logits + teacher, gradients);
    long shard = Math.min(parameters, (parameters + drafters - 1) / drafters + Shards.BLOCK);
    long head = (long) config.vocabularySize() * config.hiddenSize();
    return new DrafterMemory(
        bytes(onGpu ? parameters / 2 + largest : 2 * parameters + head + largest),
        bytes(onGpu ? floats + floats / 4 : floats), // and operands of products in bf16
        4 * parameters,
        8 * shard,
        8 * parameters,
        onGpu ? 12 * parameters : 0,
        12 * shard + 8 * parameters + 4 * parameters);
  }

  /** Floats that a row of a block leaves in every layer, and what one layer's backward adds. */
  private static long queryRowFloats(DrafterConfig config) {
    long hidden = config.hiddenSize();
    long q = config.heads().queryColumns();
    long kv = config.heads().keyValueColumns();
    long wide = config.intermediateSize();
    long kept = 4 * hidden + 4 * q + 4 * kv + config.heads().queryHeads() + 2 * wide; // one layer
    long backward = 4 * hidden + 3 * q + 3 * kv + 3 * wide;
    return config.layers() * kept + 5 * hidden + backward;
  }

  private static long contextRowFloats(DrafterConfig config) {
    long hidden = config.hiddenSize();
    long kv = config.heads().keyValueColumns();
    return config.tapColumns() + 3 * hidden + (3L * config.layers() + 2) * kv;
  }

  private static long layerParameters(DrafterConfig config) {
    long hidden = config.hiddenSize();
    long attention =
        2L * hidden * (config.heads().queryColumns() + config.heads().keyValueColumns());
    return attention + 3 * hidden * config.intermediateSize();
  }

  private static long bytes(long floats) {
    return (long) (ROUNDING * Float.BYTES * floats);
  }

  /** On the device. */
  public long device() {
    return weights + activations + masters + moments + sums;
  }

  /** On the host, beside the device's memory. */
  public long host() {
    return exchange + checkpoint;
  }
}
