package org.draftmill.job.evaluate;

import java.nio.file.Path;
import java.util.List;
import org.draftmill.compute.Backends;
import org.draftmill.compute.decoding.DecodingEvaluation;
import org.draftmill.compute.decoding.DecodingFigures;
import org.draftmill.compute.decoding.DecodingSettings;
import org.draftmill.compute.drafter.DrafterConfig;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.DrafterModel;
import org.draftmill.compute.drafter.Initializer;
import org.draftmill.compute.drafter.ParameterLayout;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.job.console.Console;

/** Real speculative decoding with a drafter, and with the target alone beside it. */
public final class Evaluation {
  private final Console console;
  private final String device;
  private final int threads;

  /**
   * @param device name of the backend
   * @param threads that it may use
   */
  public Evaluation(Console console, String device, int threads) {
    this.console = console;
    this.device = device;
    this.threads = threads;
  }

  /** With the exported drafter in a folder. */
  public DecodingFigures exported(
      Path target, Path drafter, List<int[]> prompts, DecodingSettings settings) {
    DrafterExport.Exported exported = DrafterExport.read(drafter);
    exported.config().requireFits(TargetConfig.read(target), drafter);
    return run(target, exported.config(), exported.weights(), prompts, settings);
  }

  /** With a drafter that has learned nothing: its first weights. */
  public DecodingFigures untrained(
      Path target,
      DrafterConfig config,
      long seed,
      List<int[]> prompts,
      DecodingSettings settings) {
    float[] weights = new Initializer(seed).weights(config, new ParameterLayout(config));
    return run(target, config, weights, prompts, settings);
  }

  private DecodingFigures run(
      Path target,
      DrafterConfig config,
      float[] weights,
      List<int[]> prompts,
      DecodingSettings settings) {
    try (Backend backend = Backends.open(device, threads);
        TargetModel model = TargetModel.load(target, backend)) {
      try (DrafterModel drafter = new DrafterModel(backend, config, model.head(), weights)) {
        return new DecodingEvaluation(model, drafter, settings)
            .run(
                prompts,
                done -> console.live("decoding  prompt %d of %d".formatted(done, prompts.size())));
      }
    } finally {
      console.live("");
    }
  }
}
