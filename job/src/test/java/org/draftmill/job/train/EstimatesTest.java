package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.train.MemoryEstimate.Item;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EstimatesTest {
  private static final long MB = 1L << 20;

  @Test
  void whatLiesOnGpusIsNotCountedOnTheHost(@TempDir Path dir) throws IOException {
    Path file = TestingRuns.in(dir, 10, true).file();
    MemoryEstimate host =
        Estimates.of(ResolvedRun.of(RunFile.read(file, List.of("target.device=cpu"))), false);
    MemoryEstimate gpu =
        Estimates.of(
            ResolvedRun.of(
                RunFile.read(file, List.of("target.device=cuda", "drafter.device=cuda"))),
            false);

    assertThat(host.gpus()).isEmpty();
    assertThat(gpu.gpus()).extracting(Item::name).containsExactly("target", "drafter");
    assertThat(gpu.gpus()).allSatisfy(item -> assertThat(item.bytes()).isPositive());
    assertThat(bytes(gpu, "targets")).isZero();
    assertThat(bytes(gpu, "drafters")).isPositive().isLessThan(bytes(host, "drafters"));
    assertThat(gpu.diskBytes()).isEqualTo(host.diskBytes());
  }

  @Test
  void deviceAutoIsWhatItWillBe(@TempDir Path dir) throws IOException {
    Path file = TestingRuns.in(dir, 10, true).file();
    ResolvedRun run =
        ResolvedRun.of(
            RunFile.read(file, List.of("target.device=auto", "drafter.device=reference")));

    assertThat(Estimates.of(run, false).gpus()).isEmpty();
    assertThat(Estimates.of(run, true).gpus()).extracting(Item::name).containsExactly("target");
  }

  private static long bytes(MemoryEstimate estimate, String name) {
    return estimate.items().stream()
        .filter(item -> item.name().equals(name))
        .mapToLong(Item::bytes)
        .sum();
  }

  @Test
  void networkMemoryIsWhatTheUserSays() {
    Configuration options = new Configuration();
    assertThat(Estimates.networkBytes(options)).isEqualTo(64 * MB);

    options.setString("flink.taskmanager.memory.network.min", "96mb");
    options.setString("flink.taskmanager.memory.network.max", "1gb");
    assertThat(Estimates.networkBytes(options)).isEqualTo(1024 * MB);
  }
}
