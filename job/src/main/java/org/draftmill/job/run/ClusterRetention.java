package org.draftmill.job.run;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.rest.messages.ClusterConfigurationInfoHeaders;
import org.apache.flink.runtime.rest.messages.ConfigurationInfoEntry;
import org.apache.flink.runtime.rest.messages.EmptyMessageParameters;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.draftmill.compute.InputException;

/**
 * How many completed checkpoints a cluster retains. Flink takes that from the cluster and not from
 * the job, whereas the drafters' files of old checkpoints go by {@code checkpoint.keep}: unless
 * they see below {@code checkpoints/} that Flink still has one.
 */
public final class ClusterRetention {
  private static final String SILENT =
      "The cluster does not say how many checkpoints it retains: is its JobManager running?";

  private ClusterRetention() {}

  /**
   * Compares the cluster's number with that of the run.
   *
   * @param cluster options of the client; a running standalone cluster is asked, others begin with
   *     these very options
   * @param job options of the job
   * @param keep {@code checkpoint.keep}
   * @return what the user should know; empty if the numbers agree
   * @throws InputException if checkpoints that the cluster retains would lose the drafters' files
   * @throws IOException if the cluster does not answer
   */
  public static Optional<String> compare(
      Configuration cluster, Configuration job, RunDirectory run, int keep)
      throws IOException, InterruptedException {
    boolean visible =
        job.getOptional(CheckpointingOptions.CHECKPOINTS_DIRECTORY)
            .map(given -> new Path(given).toString())
            .filter(FlinkAddress.of(run.checkpoints())::equals)
            .isPresent();
    return judge(retained(cluster), keep, visible);
  }

  /**
   * @param visible whether the drafters see Flink's checkpoints
   */
  static Optional<String> judge(int retained, int keep, boolean visible) {
    if (retained == keep) {
      return Optional.empty();
    }
    String said =
        "The cluster retains %d (%s), whatever checkpoint.keep = %d says"
            .formatted(retained, CheckpointingOptions.MAX_RETAINED_CHECKPOINTS.key(), keep);
    if (retained > keep && !visible) {
      throw new InputException(
          said
              + ", and does not keep checkpoints in the run directory: the drafters' files of the"
              + " older ones would be deleted. Set checkpoint.keep to "
              + retained
              + " or the cluster's number to "
              + keep
              + ".");
    }
    return Optional.of(
        said
            + (retained < keep
                ? ": fewer to go back to if the newest is damaged. Set both alike."
                : ". Set both alike."));
  }

  /** The cluster's number. */
  static int retained(Configuration cluster) throws IOException, InterruptedException {
    if (!StandaloneCluster.isMeantBy(cluster)) {
      return cluster.get(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS);
    }
    Configuration its = new Configuration();
    try (StandaloneCluster running = StandaloneCluster.of(cluster, SILENT)) {
      for (ConfigurationInfoEntry entry :
          StandaloneCluster.answer(
              running
                  .client()
                  .sendRequest(
                      ClusterConfigurationInfoHeaders.getInstance(),
                      EmptyMessageParameters.getInstance(),
                      EmptyRequestBody.getInstance()),
              SILENT)) {
        its.setString(entry.getKey(), entry.getValue());
      }
    }
    return its.get(CheckpointingOptions.MAX_RETAINED_CHECKPOINTS);
  }
}
