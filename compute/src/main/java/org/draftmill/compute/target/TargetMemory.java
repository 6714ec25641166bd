package org.draftmill.compute.target;

/**
 * What a target takes of a host backend's memory, where every value is a float.
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
   */
  public static TargetMemory forExtraction(
      TargetConfig config, Taps taps, boolean withFinal, long tokens) {
    TargetModel.Parts parts = TargetModel.Parts.forExtraction(config, taps, withFinal);
    long columns = (long) config.hidden() * (taps.count() + (withFinal ? 1 : 0));
    return new TargetMemory(
        weights(config, parts),
        Activations.bytes(config, tokens),
        TargetModel.RESULTS * tokens * columns * Float.BYTES);
  }

  private static long weights(TargetConfig config, TargetModel.Parts parts) {
    long table = (long) config.vocabulary() * config.hidden();
    long values = (parts.head() ? 2 : 1) * table + config.hidden();
    long largest = (long) config.hidden() * config.intermediate();
    if (parts.head() && !config.tiedHead()) {
      largest = Math.max(largest, table);
    }
    return Float.BYTES * (values + parts.layers() * config.parametersPerLayer() + largest);
  }

  public long total() {
    return weights + activations + results;
  }
}
