package org.draftmill.job.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.draftmill.compute.cuda.CudaEmulator;
import org.draftmill.compute.io.Folders;
import org.draftmill.job.TestingModels;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The job on TaskManagers with two emulated GPUs each, which they find as real ones: by the
 * discovery script of Flink's plugin, and by JCuda in Flink's {@code lib/}.
 */
@ExtendWith(CudaEmulator.class)
@Tag(CudaEmulator.TAG)
@Tag("cluster")
@Timeout(3600)
class ClusterOnCudaITCase {
  private static final int GPUS = 2;

  @TempDir Path dir;

  private TestingRuns runs;

  @BeforeEach
  void prepare() throws IOException {
    runs = TestingRuns.in(dir, 24, true);
    Folders.delete(dir.resolve("target"));
    TestingModels.wide(dir.resolve("target"));
  }

  private String[] run(String name) {
    return new String[] {
      "run.dir=" + dir.resolve(name),
      "run.max-steps=3",
      "run.products=own",
      "target.device=cuda",
      "drafter.device=cuda"
    };
  }

  @Test
  void jobAfterJobTrainsTheWeightsOfAnEmbeddedRun() throws Exception {
    CudaEmulator.setDevices(2 * GPUS);
    String[] embedded = run("embedded");
    TestingRuns.Result result =
        runs.train(
            embedded[0],
            embedded[1],
            embedded[2],
            embedded[3],
            embedded[4],
            "flink.external-resources=gpu",
            "flink.external-resource.gpu.amount=" + 2 * GPUS);
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);

    ClusterSpec spec =
        ClusterSpec.of(2, 3).gpus(GPUS).in(CudaEmulator.environment(dir.resolve("emulator"), GPUS));
    try (TestingCluster cluster = TestingCluster.start("cuda", spec)) {
      for (String name : new String[] {"first", "second"}) {
        cluster.run(runs.arguments(run(name))).requireDone();
        assertThat(TestingRuns.weights(dir.resolve(name)))
            .isEqualTo(TestingRuns.weights(dir.resolve("embedded")));
      }
    }
  }
}
