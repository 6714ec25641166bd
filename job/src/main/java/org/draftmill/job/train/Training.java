package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.job.config.ChangedOptions;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.config.ResolvedRunFile;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.LogFile;
import org.draftmill.job.console.Text;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.job.embedded.RestMetrics;
import org.draftmill.job.run.ClaimedSavepoints;
import org.draftmill.job.run.FlinkAddress;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.RunLock;
import org.draftmill.job.run.SavedState;
import org.draftmill.job.run.UnfinishedSavepoint;
import org.draftmill.job.slots.ClusterCheck;
import org.draftmill.job.slots.SlotDemand;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuProducts;
import org.draftmill.operators.gpu.GpuResource;
import org.draftmill.operators.target.TargetOptions;

/** A training run on an embedded Flink: begins or goes on, and ends with a summary. */
public final class Training {
  private final Console console;

  public Training(Console console) {
    this.console = console;
  }

  /**
   * How a run ended.
   *
   * @param summary empty when it was interrupted
   */
  public record Outcome(RunDirectory directory, Optional<Summary> summary) {}

  /**
   * Trains to the end, or until the process is told to stop.
   *
   * @param fresh whether a run that lies there already is left alone and another directory taken
   */
  public Outcome run(Configuration given, boolean fresh) throws Exception {
    Configuration options = new Configuration(given);
    if (fresh) {
      options
          .getOptional(RunOptions.DIR)
          .filter(dir -> !dir.isBlank())
          .ifPresent(
              dir -> options.set(RunOptions.DIR, RunDirectory.fresh(Path.of(dir)).toString()));
    }
    RunDirectory directory = ResolvedRun.directory(options);
    RunLock lock = RunLock.of(directory);
    try {
      LogFile.open(directory.processLog());
      OptionsCheck.require(options, directory);
      UnfinishedSavepoint.end(directory); // of a process that was killed while it stopped
      if (Files.exists(directory.summary())) {
        console.say(
            "This run is complete: "
                + directory.latestExport()
                + ". Start another one with --fresh or another run.dir.");
        List<String> changed = ChangedOptions.since(directory.runFile(), options);
        if (!changed.isEmpty()) {
          console.warn(
              "what was changed since it was trained changes nothing: "
                  + String.join(", ", changed));
        }
        return new Outcome(directory, Optional.of(Summary.read(directory.summary())));
      }
      if (mayTakeGpu(options)) {
        GpuProducts.settle(options); // all that computes is in this process
      }
      return new Outcome(directory, train(ResolvedRun.of(options)));
    } catch (IOException e) {
      throw FailureAdvice.explain(e, directory);
    } finally {
      lock.close();
    }
  }

  private static boolean mayTakeGpu(Configuration options) {
    return DeviceLease.mayTakeGpu(options.get(TargetOptions.DEVICE))
        || DeviceLease.mayTakeGpu(options.get(DrafterOptions.DEVICE));
  }

  private Optional<Summary> train(ResolvedRun run) throws Exception {
    RunDirectory directory = run.directory();
    Continuation continuation = Continuation.of(directory, run.steps());
    if (continuation.kind() == Continuation.Kind.COMPLETE) {
      console.say("All steps of this run are trained; what was missing is its summary.");
      return Optional.of(Conclusion.UNSEEN.write(run));
    }
    Configuration flink = FlinkSettings.of(run);
    SlotDemand slots = TrainingPipeline.slots(run, GpuResource.perTaskManager(flink) > 0);
    ClusterCheck.requireEmbedded(flink, slots);
    describe(run);
    warnOfOneStep(run);
    checkMemory(run, GpuResource.perTaskManager(flink) > 0 && CudaBackend.usable());
    InputCheck.verify(run);
    continuation.requireSameAs(run.drafter().identity());
    continuation.warnings().forEach(console::warn);
    continuation.rollBack(directory);
    if (continuation.kind() == Continuation.Kind.RESUME) {
      ChangedOptions.since(directory.runFile(), run.options())
          .forEach(change -> console.say("changed     " + change));
    }
    ResolvedRunFile.write(directory.runFile(), run.options());
    SavedState.prune(directory, run.options().get(CheckpointOptions.KEEP));
    StreamGraph graph = graph(run, continuation.from());
    Optional<Conclusion> end = runJob(run, graph, continuation.steps());
    return end.isEmpty() ? Optional.empty() : Optional.of(end.get().write(run));
  }

  /** Empty when a signal stopped the job. */
  private Optional<Conclusion> runJob(ResolvedRun run, StreamGraph graph, long done)
      throws Exception {
    RunDirectory directory = run.directory();
    Configuration flink = FlinkSettings.of(run);
    // The web UI shows the log of the process as that of its JobManager and TaskManager.
    flink.set(WebOptions.LOG_PATH, directory.processLog().toString());
    flink.set(TaskManagerOptions.TASK_MANAGER_LOG_PATH, directory.processLog().toString());
    int slots = TrainingPipeline.slots(run, false).slots();
    try (EmbeddedCluster cluster =
        EmbeddedCluster.start(flink, slots, run.options().get(RunOptions.WEB_PORT))) {
      LiveLogReader liveLog = new LiveLogReader(directory.liveLog(), true);
      final long start = System.nanoTime();
      JobID job = cluster.submit(graph);
      console.say("web UI      " + cluster.webUi());
      console.say("log         " + directory.processLog());
      StopOnSignal stop = new StopOnSignal(console, cluster, job, directory);
      RestMetrics metrics = new RestMetrics(cluster.webUi(), job);
      BalanceWatch balance = new BalanceWatch(console, directory);
      ProgressMonitor progress =
          new ProgressMonitor(console, liveLog, metrics, balance, run.steps(), done);
      try {
        JobExecutionResult result = cluster.await(job);
        progress.close();
        Conclusion end = Conclusion.of(result, (System.nanoTime() - start) / 1e9);
        balance.end(end.targetTokens(), end.targetBusySeconds());
        // There may have been nothing left to stop when the signal came.
        if (stop.outcome().isEmpty() || Conclusion.isDue(run)) {
          return Optional.of(end);
        }
      } catch (Exception e) {
        if (stop.outcome().isEmpty()) {
          throw FailureAdvice.explain(e, run);
        }
      } finally {
        stop.close();
        progress.close();
      }
      console.say(stop.outcome().orElseThrow());
      return Optional.empty();
    }
  }

  private void describe(ResolvedRun run) {
    console.say(
        "run         %s: %s in %s, %s of %s"
            .formatted(
                run.directory().root(),
                Text.count(run.wantedJobs(), "job"),
                Text.count(run.plan().epochs(), "epoch"),
                Text.count(run.steps(), "step"),
                run.drafter().accumulation() == 1
                    ? "1 microbatch"
                    : run.drafter().accumulation() + " microbatches"));
    console.say(
        "stages      %s (taps %s) → pool %d…%d → %s"
            .formatted(
                Text.count(run.targets(), "target"),
                run.target().taps(),
                run.pool().minReady(),
                run.pool().maxReady(),
                Text.count(run.drafter().parallelism(), "drafter")));
  }

  private void warnOfOneStep(ResolvedRun run) {
    if (run.drafter().accumulation() > run.wantedJobs()) {
      console.warn(
          "%s = %d microbatches make a step, but there are only %s: the whole run is one step."
              .formatted(
                  DrafterOptions.ACCUMULATION.key(),
                  run.drafter().accumulation(),
                  Text.count(run.wantedJobs(), "job")));
    }
  }

  private void checkMemory(ResolvedRun run, boolean autoIsGpu) throws IOException {
    MemoryEstimate estimate = Estimates.of(run, autoIsGpu);
    long available = Runtime.getRuntime().maxMemory();
    OptionalLong gpuBytes =
        estimate.gpus().isEmpty() ? OptionalLong.empty() : CudaBackend.smallestMemory();
    FileStore store = Files.getFileStore(run.directory().root());
    estimate.table(available).forEach(console::detail);
    console.say(
        "memory      about %s of %s, up to %s of disk"
            .formatted(
                Text.bytes(estimate.bytes()),
                Text.bytes(available),
                Text.bytes(estimate.diskBytes())));
    estimate.requireFit(available, gpuBytes, store.getUsableSpace());
  }

  private StreamGraph graph(ResolvedRun run, Optional<SavedState> saved) throws IOException {
    Configuration flink = FlinkSettings.of(run);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
    TrainingPipeline.build(env, run);
    StreamGraph graph = env.getStreamGraph();
    if (saved.isPresent()) {
      ClaimedSavepoints.claim(run.directory(), saved.get());
      Path path = saved.get().path();
      console.say("resuming    from " + run.directory().root().relativize(path));
      graph.setSavepointRestoreSettings(
          SavepointRestoreSettings.forPath(FlinkAddress.of(path), false, RecoveryClaimMode.CLAIM));
    }
    return graph;
  }
}
