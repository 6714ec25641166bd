package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolSettingsTest {

  private static final PoolSettings.Run RUN = new PoolSettings.Run(1, 100, 12, 3, 5, 10 << 20);

  @Test
  void defaultsWork() {
    PoolSettings settings = PoolSettings.from(new Configuration(), RUN);
    assertThat(settings.minReady()).isEqualTo(10);
    assertThat(settings.window()).isEqualTo(10);
    assertThat(settings.maxReady()).isEqualTo(60);
    assertThat(settings.release()).isEqualTo(ReleaseOrder.SEEDED);
    assertThat(settings.shards()).isOne();
  }

  @Test
  void theWindowIsMinReadyUnlessSet() {
    assertThat(from(Map.of("pool.min-ready", "7")).window()).isEqualTo(7);
    assertThat(from(Map.of("pool.min-ready", "7", "pool.window", "3")).window()).isEqualTo(3);
  }

  @Test
  void theOrderOfReleaseIsReadByItsName() {
    assertThat(from(Map.of("pool.release", "as-ready")).release()).isEqualTo(ReleaseOrder.AS_READY);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pool.min-ready | 0    | pool.min-ready = 0 must be at least 1.",
        "pool.window    | 0    | pool.window = 0 must be at least 1.",
        "pool.shards    | 0    | pool.shards = 0 must be at least 1.",
        "pool.parallelism | 0  | pool.parallelism = 0 must be at least 1.",
        "pool.max-ready | 9    | full at pool.max-ready = 9 microbatches and wait for pool.min-ready = 10",
        "pool.window    | 61   | pool.window = 61 is more than the pool may hold: pool.max-ready is 60",
        "pool.max-memory| 99mb | pool.max-memory = 99.000mb (103809024 bytes) does not hold pool.min-ready = 10 microbatches of the plan's largest job",
        "pool.parallelism | 2  | pool.parallelism = 2 subtasks cannot share pool.shards = 1",
        "pool.shards    | 65   | pool.shards = 65 is more than 64",
      })
  void whatCannotWorkIsRefused(String key, String value, String message) {
    assertThatThrownBy(() -> from(Map.of(key, value)))
        .isInstanceOf(IllegalConfigurationException.class)
        .hasMessageContaining(message);
  }

  private static PoolSettings from(Map<String, String> options) {
    return PoolSettings.from(Configuration.fromMap(options), RUN);
  }
}
