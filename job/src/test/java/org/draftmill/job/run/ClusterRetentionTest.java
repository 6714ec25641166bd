package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.draftmill.compute.InputException;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.junit.jupiter.api.Test;

class ClusterRetentionTest {
  @Test
  void theSameNumberIsNothingToTalkOf() {
    assertThat(ClusterRetention.judge(3, 3, false)).isEmpty();
  }

  @Test
  void otherNumbersAreSaid() {
    assertThat(ClusterRetention.judge(1, 3, true))
        .contains(
            "The cluster retains 1 (execution.checkpointing.num-retained), whatever checkpoint.keep"
                + " = 3 says: fewer to go back to if the newest is damaged. Set both alike.");
    assertThat(ClusterRetention.judge(9, 3, true)).isPresent();
  }

  @Test
  void checkpointsElsewhereMustNotOutliveTheFilesOfTheDrafters() {
    assertThat(ClusterRetention.judge(1, 3, false)).isPresent();
    assertThatThrownBy(() -> ClusterRetention.judge(9, 3, false))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("would be deleted. Set checkpoint.keep to 9 or the cluster's");
  }

  @Test
  void aRunningClusterIsAskedOthersBeginWithTheOptionsOfTheClient() throws Exception {
    Configuration client = new Configuration();
    client.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 7);
    assertThat(ClusterRetention.retained(client)).isEqualTo(7);

    Configuration options = new Configuration();
    options.set(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS, 4);
    try (EmbeddedCluster cluster = EmbeddedCluster.start(options, 1, 0)) {
      client.set(DeploymentOptions.TARGET, "remote");
      client.set(RestOptions.ADDRESS, cluster.webUi().getHost());
      client.set(RestOptions.PORT, cluster.webUi().getPort());
      RunDirectory run = new RunDirectory(Path.of("run"));
      Configuration job = new Configuration();
      job.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, run.checkpoints().toUri().toString());
      assertThat(ClusterRetention.compare(client, job, run, 4)).isEmpty();
      assertThat(ClusterRetention.compare(client, job, run, 3)).isPresent();
    }
  }
}
