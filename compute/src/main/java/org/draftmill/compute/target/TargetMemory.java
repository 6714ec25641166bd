package org.draftmill.compute.target;

/**
 * What a target takes of its device's memory: on host backends every value is a float, on a GPU the
 * weights of products are bf16, once they have come in.
 *
 * @param weights bytes of the loaded parts, and of the largest tensor on its way in
 * @param activations bytes that a pass works in
 * @param results bytes of the result buffers
 */
public record TargetMemory(long weights, long activations, long results) {

  /**
   * For extraction.
   *
   * @param tokens the most rows of a job: the token budget, or the longest sequence if that is more
   * @param onGpu whether it computes on a GPU
   */
  public static TargetMemory forExtraction(
      TargetConfig config, Taps taps, boolean withFinal, long tokens, boolean onGpu) {
    TargetModel.Parts parts = TargetModel.Parts.forExtraction(config, taps, withFinal);
    long columns = (long) config.hidden() * (taps.count() + (withFinal ? 1 : 0));
    return new TargetMemory(
        weights(config, parts, onGpu ? 2 : Float.BYTES),
        Activations.bytes(config, tokens),
        TargetModel.RESULTS * tokens * columns * Float.BYTES);
  }

  /**
   * @param each bytes of a value that is arranged for products
   */
  private static long weights(TargetConfig config, TargetModel.Parts parts, int each) {
    long table = (long) config.vocabulary() * config.hidden();
    long arranged = (parts.head() ? table : 0) + parts.layers() * config.parametersPerLayer();
    long largest = (long) config.hidden() * config.intermediate();
    if (parts.head() && !config.tiedHead()) {
      largest = Math.max(largest, table);
    }
    return each * arranged + Float.BYTES * (table + config.hidden() + largest);
  }

  public long total() {
    return weights + activations + results;
  }
}
