package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.flink.configuration.Configuration;
import org.junit.jupiter.api.Test;

class EstimatesTest {
  private static final long MB = 1L << 20;

  @Test
  void networkMemoryIsWhatTheUserSays() {
    Configuration options = new Configuration();
    assertThat(Estimates.networkBytes(options)).isEqualTo(64 * MB);

    options.setString("flink.taskmanager.memory.network.min", "96mb");
    options.setString("flink.taskmanager.memory.network.max", "1gb");
    assertThat(Estimates.networkBytes(options)).isEqualTo(1024 * MB);
  }
}
