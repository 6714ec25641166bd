package org.draftmill.job;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.client.program.ProgramParametrizationException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.DetachedJobExecutionResult;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.job.balance.TargetLog;
import org.draftmill.job.cli.Failures;
import org.draftmill.job.cli.Version;
import org.draftmill.job.config.CheckpointOptions;
import org.draftmill.job.config.ResolvedRunFile;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.run.ClusterRetention;
import org.draftmill.job.run.FlinkAddress;
import org.draftmill.job.run.OtherJobs;
import org.draftmill.job.run.RunLock;
import org.draftmill.job.run.SavedState;
import org.draftmill.job.run.UnfinishedSavepoint;
import org.draftmill.job.slots.ClusterCheck;
import org.draftmill.job.slots.SlotDemand;
import org.draftmill.job.train.Conclusion;
import org.draftmill.job.train.Continuation;
import org.draftmill.job.train.FlinkSettings;
import org.draftmill.job.train.InputCheck;
import org.draftmill.job.train.MemoryEstimate;
import org.draftmill.job.train.ResolvedRun;
import org.draftmill.job.train.TrainingPipeline;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The job on a cluster: {@code flink run [-s SAVEPOINT] draftmill-job.jar --config run.yaml}.
 * Without {@code -s} a run directory that has a checkpoint is resumed from the last one, as {@code
 * draftmill train} does. Failures are thrown, so that Flink's client reports them; of options and
 * files that cannot be used it prints one sentence.
 *
 * <p>The run directory is locked for as long as this process waits for the job. A job that was
 * handed in with {@code --detached} runs on without a lock, which only a process can hold; a second
 * one of the same cluster is refused all the same ({@link OtherJobs}). At the end of the job the
 * process that waits for it writes {@code summary.json}; of one that nobody waited for the same
 * command does, or {@code draftmill train}.
 */
@Command(
    name = "draftmill-job.jar",
    description = "Trains a drafter on the Flink cluster that it is handed to.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class TrainJob implements Callable<Integer> {

  @Option(
      names = "--config",
      required = true,
      paramLabel = "run.yaml",
      description = "The run file; docs/options.md lists all keys.")
  private Path config;

  @Option(
      names = "-D",
      paramLabel = "key=value",
      description = "Goes before the run file; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  public static void main(String[] arguments) throws Exception {
    AtomicReference<Exception> failure = new AtomicReference<>();
    new CommandLine(new TrainJob())
        .setParameterExceptionHandler(
            (e, given) -> {
              failure.set(unusable(e.getMessage() + "; --help says how it is used.", e));
              return ExitCode.UNUSABLE;
            })
        .setExecutionExceptionHandler(
            (e, command, parsed) -> {
              Failures.Verdict verdict = Failures.judge(e);
              boolean unusable = verdict.exitCode() == ExitCode.UNUSABLE;
              failure.set(unusable ? unusable(verdict.message(), e) : e);
              return verdict.exitCode();
            })
        .execute(arguments);
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  /** Of this one Flink's command line prints the message alone, and its log has all of it. */
  private static Exception unusable(String message, Exception cause) {
    Exception unusable = new ProgramParametrizationException(message);
    unusable.initCause(cause);
    return unusable;
  }

  @Override
  public Integer call() throws Exception {
    ResolvedRun run = ResolvedRun.of(RunFile.read(config, overrides));
    RunLock lock = RunLock.of(run.directory());
    try {
      UnfinishedSavepoint.end(run.directory());
      train(run);
    } finally {
      lock.close();
    }
    return CommandLine.ExitCode.OK;
  }

  private static void train(ResolvedRun run) throws Exception {
    InputCheck.verify(run);
    Configuration flink = FlinkSettings.of(run);
    StreamExecutionEnvironment ambient = StreamExecutionEnvironment.getExecutionEnvironment();
    FlinkSettings.requireAligned(ambient.getConfiguration());
    Configuration cluster = Configuration.fromMap(ambient.getConfiguration().toMap());
    OtherJobs.requireNoneIn(run.directory(), cluster);
    ClusterRetention.compare(
            cluster, flink, run.directory(), run.options().get(CheckpointOptions.KEEP))
        .ifPresent(System.out::println);
    Optional<String> asked = cluster.getOptional(StateRecoveryOptions.SAVEPOINT_PATH);
    Optional<Continuation> named = Optional.empty();
    if (asked.isPresent()) {
      named = Continuation.from(run.directory(), asked.get());
      if (named.isPresent()) {
        named.get().requireSameAs(run.drafter().identity());
        named.get().warnings().forEach(System.out::println);
      }
    } else {
      Continuation continuation = Continuation.of(run.directory(), run.steps());
      if (continuation.kind() == Continuation.Kind.COMPLETE) {
        if (!Files.exists(run.directory().summary())) {
          Conclusion.UNSEEN.write(run);
        }
        System.out.println("This run is complete: " + run.directory().latestExport());
        return;
      }
      continuation.requireSameAs(run.drafter().identity());
      continuation.warnings().forEach(System.out::println);
      continuation.rollBack(run.directory());
      if (continuation.from().isPresent()) {
        Path state = continuation.from().get().path();
        System.out.println("resuming from " + state);
        flink.set(StateRecoveryOptions.SAVEPOINT_PATH, FlinkAddress.of(state));
      }
      // Not with -s: the state that was asked for may be one of those that would go.
      SavedState.prune(run.directory(), run.options().get(CheckpointOptions.KEEP));
    }
    SlotDemand slots =
        ClusterCheck.require(
            cluster,
            gpus -> TrainingPipeline.slots(run, gpus),
            run.options().get(RunOptions.WAIT_FOR_RESOURCES));
    if (named.isPresent()) {
      // Not before it is sure to begin: without -s a run goes on from a newer state, to whose steps
      // the rows belong that are taken back here.
      named.get().rollBack(run.directory());
    }
    if (slots.gpus() > 0 && run.options().get(RunOptions.PRODUCTS) == MatrixProducts.AUTO) {
      System.out.println(
          "Matrices on GPUs are multiplied by Draftmill's own kernels: %s is auto, and hosts with and without cuBLAS would not give the same bits. Set it to cublas where every host has the same version of it."
              .formatted(RunOptions.PRODUCTS.key()));
    }
    ResolvedRunFile.write(run.directory().runFile(), run.options());
    System.out.println("estimate, all stages together:");
    MemoryEstimate.of(run, slots.gpus() > 0).table().forEach(System.out::println);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
    TrainingPipeline.build(env, run, slots);
    conclude(run, env.execute());
  }

  /** A job that was only handed in has not ended yet, and one that was stopped goes on some day. */
  private static void conclude(ResolvedRun run, JobExecutionResult result) throws IOException {
    if (result instanceof DetachedJobExecutionResult) {
      System.out.println(
          "When the job has ended, the same command writes %s; without -s, if that was given."
              .formatted(run.directory().summary()));
    } else if (Conclusion.isDue(run)) {
      Conclusion end = Conclusion.of(result, result.getNetRuntime() / 1000.0);
      end.log(new TargetLog(run.directory().targetLog()));
      end.write(run).report().forEach(System.out::println);
    }
  }
}
