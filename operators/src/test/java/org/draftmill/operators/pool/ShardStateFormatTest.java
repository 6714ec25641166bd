package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.draftmill.serializers.JobId;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

class ShardStateFormatTest {

  private static final PoolSettings SETTINGS = settings(s -> s);

  private static final ShardState STATE =
      new ShardState(
          1,
          7,
          20,
          new long[] {17, 20, 22},
          List.of(
              new StepMarker.Release(new JobId(35, 0, 35, 2), false),
              new StepMarker.Release(new JobId(39, 1, 3, 0), true)));

  @Test
  void whatIsWrittenIsRead() throws IOException {
    assertThat(ShardStateFormat.read(ShardStateFormat.write(STATE, SETTINGS), SETTINGS))
        .usingRecursiveComparison()
        .isEqualTo(STATE);
  }

  @Test
  void bytesOfTheFirstVersionAreRead() throws IOException {
    byte[] bytes = firstVersion();
    assertThat(ShardStateFormat.read(bytes, SETTINGS)).usingRecursiveComparison().isEqualTo(STATE);
    assertThat(ShardStateFormat.write(STATE, SETTINGS)).isEqualTo(bytes);
  }

  @Test
  void anotherOrderOfReleaseIsRefusedByName() throws IOException {
    byte[] bytes = ShardStateFormat.write(STATE, SETTINGS);
    refused(bytes, settings(s -> s.seed(6)), "run.seed = 42, this run has 6");
    refused(bytes, settings(s -> s.window(4)), "pool.window = 3, this run has 4");
    refused(bytes, settings(s -> s.shards(3, 1)), "pool.shards = 2, this run has 3");
    refused(
        bytes,
        settings(s -> s.release(ReleaseOrder.AS_READY)),
        "pool.release = seeded, this run has as-ready");
    refused(
        bytes,
        TestingSettings.of(101, 5).window(3).shards(2, 1).build(),
        "the number of jobs = 100, this run has 101");
    refused(
        bytes,
        TestingSettings.of(100, 6).window(3).shards(2, 1).build(),
        "drafter.accumulation = 5, this run has 6");
  }

  @Test
  void whatDoesNotChangeTheOrderMayChange() throws IOException {
    PoolSettings other = settings(s -> s.minReady(1).maxReady(50).shards(2, 2).drafters(4));
    assertThat(ShardStateFormat.read(ShardStateFormat.write(STATE, SETTINGS), other))
        .usingRecursiveComparison()
        .isEqualTo(STATE);
  }

  @Test
  void anotherVersionIsRefused() throws IOException {
    byte[] bytes = ShardStateFormat.write(STATE, SETTINGS);
    bytes[7] = 2;
    assertThatThrownBy(() -> ShardStateFormat.read(bytes, SETTINGS))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("version 2; this program reads 444d5053, version 1");
  }

  private static void refused(byte[] bytes, PoolSettings other, String message) {
    assertThatThrownBy(() -> ShardStateFormat.read(bytes, other))
        .isInstanceOf(IllegalConfigurationException.class)
        .hasMessageContaining(message);
  }

  private static PoolSettings settings(UnaryOperator<TestingSettings> change) {
    return change.apply(TestingSettings.of(100, 5).window(3).shards(2, 1)).build();
  }

  private static byte[] firstVersion() throws IOException {
    try (InputStream in =
        ShardStateFormatTest.class.getResourceAsStream("/pool/shard-state-v1.hex")) {
      return HexFormat.of().parseHex(new String(in.readAllBytes()).replaceAll("\\s", ""));
    }
  }
}
