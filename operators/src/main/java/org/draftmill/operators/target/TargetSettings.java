package org.draftmill.operators.target;

import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuProducts;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunkFormat;

/**
 * What a target must know, checked.
 *
 * @param model folder of the model
 * @param dataset directory of the dataset
 * @param device one of {@link DeviceLease#DEVICES}
 * @param threads of a host backend
 * @param products what multiplies matrices on a GPU
 * @param taps ids of the tapped decoder layers
 * @param finalStates whether the states after the final norm travel, too
 * @param hiddenDtype how hidden states are stored
 * @param chunkBytes the most bytes of a chunk
 * @param retries of a forward pass
 * @param timeout of one part of the work on one job
 */
public record TargetSettings(
    String model,
    String dataset,
    String device,
    int threads,
    MatrixProducts products,
    List<Integer> taps,
    boolean finalStates,
    HiddenDType hiddenDtype,
    long chunkBytes,
    int retries,
    Duration timeout)
    implements Serializable {

  /**
   * What the rest of the run says about its targets.
   *
   * @param dataset directory of the dataset
   * @param draftLayers taps that {@code auto} chooses
   * @param softLabels whether the drafter learns from the target's final states
   * @param autoThreads threads of a target where the options name none
   */
  public record Run(String dataset, int draftLayers, boolean softLabels, int autoThreads) {}

  public TargetSettings {
    taps = List.copyOf(taps);
  }

  /**
   * Reads and checks the options, also against the model's {@code config.json}.
   *
   * @throws InputException naming the option that is missing or cannot be
   */
  public static TargetSettings from(ReadableConfig config, Run run) {
    check(config);
    String model = config.getOptional(TargetOptions.MODEL).orElseThrow(TargetSettings::noModel);
    TargetConfig target = TargetConfig.read(Path.of(model));
    Taps taps = Taps.parse(config.get(TargetOptions.TAPS), target.layers(), run.draftLayers());
    TargetSettings settings =
        new TargetSettings(
            model,
            run.dataset(),
            config.get(TargetOptions.DEVICE),
            config.getOptional(TargetOptions.THREADS).orElse(run.autoThreads()),
            GpuProducts.of(config),
            taps.layers(),
            run.softLabels(),
            config.get(TargetOptions.HIDDEN_DTYPE),
            config.get(TargetOptions.CHUNK_SIZE).getBytes(),
            config.get(TargetOptions.RETRIES),
            config.get(TargetOptions.TIMEOUT));
    settings.requireChunksOfOneRow(target.hidden());
    return settings;
  }

  private static InputException noModel() {
    return new InputException(
        "The option %s is missing; give it the folder of the target."
            .formatted(TargetOptions.MODEL.key()));
  }

  /**
   * Checks the options as far as that can be done without the model.
   *
   * @throws InputException naming the option that is missing or cannot be
   */
  public static void check(ReadableConfig config) {
    config.getOptional(TargetOptions.MODEL).orElseThrow(TargetSettings::noModel);
    DeviceLease.requireKnown(TargetOptions.DEVICE.key(), config.get(TargetOptions.DEVICE));
    config
        .getOptional(TargetOptions.THREADS)
        .ifPresent(threads -> atLeast(1, TargetOptions.THREADS, threads));
    atLeast(0, TargetOptions.RETRIES, config.get(TargetOptions.RETRIES));
    Duration timeout = config.get(TargetOptions.TIMEOUT);
    if (timeout.toMillis() < 1) {
      throw new InputException(
          "%s is %s; it must be at least 1 ms.".formatted(TargetOptions.TIMEOUT.key(), timeout));
    }
  }

  private static void atLeast(int least, ConfigOption<Integer> option, int value) {
    if (value < least) {
      throw new InputException(
          "%s is %d; it must be at least %d.".formatted(option.key(), value, least));
    }
  }

  private void requireChunksOfOneRow(int hidden) {
    int finalColumns = finalStates ? hidden : 0;
    long needed =
        HiddenStateChunkFormat.smallestChunk(taps.size() * hidden, finalColumns, hiddenDtype);
    if (chunkBytes < needed) {
      throw new InputException(
          "%s is %s, but one row of %d taps%s of %d %s values takes %d bytes: set it to %s or more."
              .formatted(
                  TargetOptions.CHUNK_SIZE.key(),
                  new MemorySize(chunkBytes).toHumanReadableString(),
                  taps.size(),
                  finalStates ? " and a final state" : "",
                  hidden,
                  hiddenDtype,
                  needed,
                  MemorySize.ofMebiBytes(needed / (1 << 20) + 1)));
    }
  }
}
