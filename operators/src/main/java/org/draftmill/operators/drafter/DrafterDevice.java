package org.draftmill.operators.drafter;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.util.IOUtils;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.DeviceSeconds;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.DrafterState;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.compute.drafter.DrafterTrainer;
import org.draftmill.compute.drafter.Initializer;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.LeasedBackend;

/**
 * A drafter on its device, with the target's embedding and vocabulary head beside it. Owns all
 * three; one thread at a time.
 */
final class DrafterDevice implements Trainer {
  private final DrafterConfig config;
  private final DrafterTrainer trainer;
  private final List<AutoCloseable> owned;

  private DrafterDevice(DrafterConfig config, DrafterTrainer trainer, List<AutoCloseable> owned) {
    this.config = config;
    this.trainer = trainer;
    this.owned = owned;
  }

  /**
   * Loads what a drafter needs and gives it its first weights.
   *
   * @param lease of the device, owned from now on
   * @param rank of the drafter among {@code size}
   */
  static DrafterDevice open(DrafterSettings settings, DeviceLease lease, int rank, int size) {
    List<AutoCloseable> owned = new ArrayList<>(List.of(lease)); // the last one is closed first
    try {
      Backend backend = LeasedBackend.open(lease, settings.threads(), settings.products());
      owned.add(0, backend);
      TargetConfig target = TargetConfig.read(Path.of(settings.run().target()));
      DrafterConfig config = settings.shape(target);
      TargetModel head = TargetModel.load(target, new TargetModel.Parts(0, true), backend);
      owned.add(0, head);
      DrafterTrainer trainer =
          new DrafterTrainer(
              backend,
              head.head(),
              config,
              settings.training(),
              firstWeights(settings, config),
              rank,
              size);
      owned.add(0, trainer);
      return new DrafterDevice(config, trainer, owned);
    } catch (Throwable e) {
      IOUtils.closeAllQuietly(owned);
      throw e;
    }
  }

  private static float[] firstWeights(DrafterSettings settings, DrafterConfig config) {
    return settings
        .init()
        .map(drafter -> Initializer.copy(drafter, config))
        .orElseGet(
            () ->
                new Initializer(settings.run().seed())
                    .weights(config, new ParameterLayout(config)));
  }

  DrafterConfig config() {
    return config;
  }

  /** Number of the step that is open. */
  long step() {
    return trainer.step();
  }

  @Override
  public MicrobatchFigures accumulate(Microbatch microbatch) {
    return trainer.accumulate(microbatch);
  }

  @Override
  public void tombstone() {
    trainer.tombstone();
  }

  @Override
  public StepFigures step(Collective collective) throws IOException {
    return trainer.step(collective);
  }

  /** What the device has spent on this drafter; any thread may ask, also when it is closed. */
  DeviceSeconds deviceSeconds() {
    return trainer.deviceSeconds();
  }

  /** A copy of what must be written down. */
  DrafterState snapshot() {
    return trainer.snapshot();
  }

  void restore(DrafterStateFiles files) {
    trainer.restore(files);
  }

  /** Writes the drafter as it stands in the layout that serving engines load. */
  void export(Path directory) throws IOException {
    DrafterExport.write(directory, config, trainer.weights());
  }

  String weightsSha256() {
    return trainer.weightsSha256();
  }

  @Override
  public void close() {
    IOUtils.closeAllQuietly(owned);
  }
}
