package org.draftmill.job.run;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.deployment.executors.RemoteExecutor;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
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

  private static final long ANSWER_SECONDS = 60;

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
    if (!RemoteExecutor.NAME.equals(flink.get(DeploymentOptions.TARGET))) {
      return;
    }
    try (RestClusterClient<StandaloneClusterId> client =
        new RestClusterClient<>(flink, StandaloneClusterId.getInstance())) {
      for (JobStatusMessage job : client.listJobs().get(ANSWER_SECONDS, TimeUnit.SECONDS)) {
        if (!job.getJobState().isGloballyTerminalState()
            && isIn(directory, parameters(client, job.getJobId()))) {
          throw new InputException(
              "Job %s of this cluster is %s and works in %s: wait for it, stop it with flink stop %s, or choose another run.dir."
                  .formatted(job.getJobId(), job.getJobState(), directory.root(), job.getJobId()));
        }
      }
    } catch (InputException | IOException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(
          "The cluster does not say which jobs it runs: is its JobManager running?", e);
    }
  }

  /** None of a job that has ended meanwhile. */
  private static Map<String, String> parameters(RestClusterClient<?> client, JobID job)
      throws InterruptedException, TimeoutException {
    JobMessageParameters parameters = new JobMessageParameters();
    parameters.jobPathParameter.resolve(job);
    try {
      return client
          .sendRequest(JobConfigHeaders.getInstance(), parameters, EmptyRequestBody.getInstance())
          .get(ANSWER_SECONDS, TimeUnit.SECONDS)
          .getExecutionConfigInfo()
          .getGlobalJobParameters();
    } catch (ExecutionException e) {
      return Map.of();
    }
  }
}
