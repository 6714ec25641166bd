package org.draftmill.job.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.job.TestingModels;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.train.FlinkSettings;
import org.draftmill.job.train.ResolvedRun;
import org.draftmill.job.train.TrainingPipeline;

/**
 * The training that is disturbed: a tiny target and dataset, several epochs, buckets and chunks,
 * and the whole pipeline as it is. All runs of a directory share target and dataset.
 */
final class ChaosRun {
  static final int EPOCHS = 3;
  static final int MIN_READY = 6;
  private static final int SEQUENCES = 600;
  private static final int SHORTEST = 16;
  private static final int LONGEST = 160;

  private final Path home;

  private ChaosRun(Path home) {
    this.home = home;
  }

  /** Makes target and dataset. */
  static ChaosRun in(Path home) throws IOException {
    TestingModels.tiny(home.resolve("target"));
    Random random = new Random(11);
    try (DatasetWriter writer = new DatasetWriter(home.resolve("data"))) {
      for (int s = 0; s < SEQUENCES; s++) {
        int[] ids = new int[SHORTEST + random.nextInt(LONGEST - SHORTEST + 1)];
        byte[] mask = new byte[ids.length];
        for (int i = 0; i < ids.length; i++) {
          ids[i] = random.nextInt(TestingModels.VOCABULARY - 1);
          mask[i] = (byte) (i >= 3 ? 1 : 0);
        }
        writer.write(new TokenizedSequence(ids, mask));
      }
      writer.finish(new DatasetManifest.Origin("tiny", "0".repeat(64), 0), Map.of());
    }
    return new ChaosRun(home);
  }

  /** The run of a scenario, in a directory of its own below the home. */
  ResolvedRun of(String name, Scenario scenario, String... overrides) throws IOException {
    return ResolvedRun.of(RunFile.read(file(name, scenario), List.of(overrides)));
  }

  /** Writes the run file of a scenario. */
  Path file(String name, Scenario scenario) throws IOException {
    String yaml =
        """
        run: {dir: %1$s/%2$s, seed: 7, web-port: 0, restart-attempts: 1000, restart-delay: 20ms}
        target: {model: %1$s/target, parallelism: %3$d, taps: [0, 1], threads: 1, chunk-size: 4kb}
        jobs: {dataset: %1$s/data, token-budget: 384, bucket-bounds: [48, 96], epochs: %4$d}
        pool: {min-ready: %5$d, max-ready: 16, shards: %6$d, parallelism: %7$d}
        drafter:
          parallelism: %8$d
          threads: 1
          layers: 1
          block-size: 6
          anchors: 48
          accumulation: 4
          keep-exports: 2
          optimizer: {lr: 1.0e-3}
        checkpoint: {interval: %9$d ms, keep: 2}
        """
            .formatted(
                home,
                name,
                scenario.targets(),
                EPOCHS,
                MIN_READY,
                scenario.shards(),
                scenario.poolSubtasks(),
                scenario.drafters(),
                scenario.checkpointMillis());
    Files.createDirectories(home.resolve(name));
    return Files.writeString(home.resolve(name + ".yaml"), yaml);
  }

  /** The whole pipeline of a run. */
  static StreamGraph graph(ResolvedRun run) {
    Configuration flink = FlinkSettings.of(run);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
    TrainingPipeline.build(env, run);
    return env.getStreamGraph();
  }
}
