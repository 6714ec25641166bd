package org.draftmill.job.run;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.rest.messages.EmptyRequestBody;
import org.apache.flink.runtime.rest.messages.JobConfigHeaders;
import org.apache.flink.runtime.rest.messages.JobMessageParameters;
import org.draftmill.compute.InputException;

/**
 * The jobs that a cluster runs already. The {@link RunLock} goes with the client that handed a job
 * in; a detached job is known by the run directory that it carries as a parameter.
 */
public final class OtherJobs {
  /** Parameter of a job: where its run lies. */
  private static final String DIRECTORY = "run.dir";

  private static final String SILENT =
      "The cluster does not say which jobs it runs: is its JobManager running?";

  private OtherJobs() {}

  /**
   * What a job tells of itself, in the web UI too.
   *
   * @param given parameters that the user adds
   */
  public static Map<String, String> parameters(RunDirectory directory, Map<String, String> given) {
    Map<String, String> parameters = new HashMap<>(given);
    parameters.put(DIRECTORY, directory.root().toString());
    return parameters;
  }

  /** Whether a job of these parameters works there. */
  static boolean isIn(RunDirectory directory, Map<String, String> parameters) {
    return directory.root().toString().equals(parameters.get(DIRECTORY));
  }

  /**
   * Keeps two jobs of one cluster from working on one run directory.
   *
   * @param flink options of the client; only a running standalone cluster is asked
   * @throws InputException if a job of the cluster works there
   * @throws IOException if the cluster does not answer
   */
  public static void requireNoneIn(RunDirectory directory, Configuration flink)
      throws IOException, InterruptedException {
    if (!StandaloneCluster.isMeantBy(flink)) {
      return;
    }
    try (StandaloneCluster cluster = StandaloneCluster.of(flink, SILENT)) {
      for (JobStatusMessage job : StandaloneCluster.answer(cluster.client().listJobs(), SILENT)) {
        if (!job.getJobState().isGloballyTerminalState()
            && isIn(directory, parameters(cluster, job.getJobId()))) {
          throw new InputException(
              "Job %s of this cluster is %s and works in %s: wait for it, stop it with flink stop %s, or choose another run.dir."
                  .formatted(job.getJobId(), job.getJobState(), directory.root(), job.getJobId()));
        }
      }
    }
  }

  /** None of a job that has ended meanwhile. */
  private static Map<String, String> parameters(StandaloneCluster cluster, JobID job)
      throws IOException, InterruptedException {
    JobMessageParameters parameters = new JobMessageParameters();
    parameters.jobPathParameter.resolve(job);
    return StandaloneCluster.answer(
        cluster
            .client()
            .sendRequest(JobConfigHeaders.getInstance(), parameters, EmptyRequestBody.getInstance())
            .thenApply(config -> config.getExecutionConfigInfo().getGlobalJobParameters())
            .exceptionally(gone -> Map.of()),
        SILENT);
  }
}
