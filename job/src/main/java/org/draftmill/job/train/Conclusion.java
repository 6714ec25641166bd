package org.draftmill.job.train;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.api.common.JobExecutionResult;
import org.draftmill.compute.InputException;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.balance.TargetLog;
import org.draftmill.job.run.DrafterStates;
import org.draftmill.job.run.SavedState;
import org.draftmill.operators.pool.PoolOperatorFactory;
import org.draftmill.operators.target.TargetOperatorFactory;

/**
 * The end of a run whose steps are all trained, and what its stages said of the time that they had;
 * NaN where they did not.
 *
 * @param seconds that the job ran
 * @param targetTokens that the targets have extracted
 * @param targetBusySeconds in which they did, all together
 * @param poolStallSeconds in which drafters waited for the pool to have enough to mix
 */
public record Conclusion(
    double seconds, double targetTokens, double targetBusySeconds, double poolStallSeconds) {

  /** Of a run whose job ended before anybody asked. */
  public static final Conclusion UNSEEN =
      new Conclusion(Double.NaN, Double.NaN, Double.NaN, Double.NaN);

  /** Of a job that has ended, whether every step is trained: one that was stopped ends, too. */
  public static boolean isDue(ResolvedRun run) throws IOException {
    return Continuation.isTrained(run.directory(), run.steps());
  }

  /**
   * @param seconds that the job ran
   */
  public static Conclusion of(JobExecutionResult result, double seconds) {
    return new Conclusion(
        seconds,
        accumulated(result, TargetOperatorFactory.TOKENS),
        accumulated(result, TargetOperatorFactory.BUSY_SECONDS),
        accumulated(result, PoolOperatorFactory.MIN_READY_STALL_SECONDS));
  }

  /** Of a job that resumed when all was done no stage ran: NaN. */
  private static double accumulated(JobExecutionResult result, String accumulator) {
    Double sum = result.getAccumulatorResult(accumulator);
    return sum == null ? Double.NaN : sum;
  }

  /** Notes what the targets did, of a job that nobody watched while it ran. */
  public void log(TargetLog targets) throws IOException {
    if (targetTokens > 0 && targetBusySeconds > 0) {
      double now = System.currentTimeMillis() / 1000.0;
      targets.start(now - seconds);
      targets.append(new TargetLog.Row(now, targetTokens, targetBusySeconds));
    }
  }

  /** Writes the summary, and takes away what only a run that goes on needs. */
  public Summary write(ResolvedRun run) throws IOException {
    Summary summary = summarize(run);
    summary.write(run.directory().summary());
    // Flink deletes its own at the end of a job; those of earlier processes are left.
    SavedState.prune(run.directory(), 0);
    DrafterStates.keepLast(run.directory());
    TrainingLog.clean(run.directory().log());
    TrainingLog.clean(run.directory().deadLetters());
    return summary;
  }

  private Summary summarize(ResolvedRun run) throws IOException {
    List<TrainingLog.Row> rows = TrainingLog.read(run.directory().log());
    double trained = rows.stream().mapToDouble(TrainingLog.Row::seconds).sum();
    long tokens = rows.stream().mapToLong(TrainingLog.Row::tokens).sum();
    double working = rows.stream().mapToDouble(TrainingLog.Row::busySeconds).sum();
    Path drafter = run.directory().latestExport();
    return new Summary(
        rows.size(),
        rows.stream().mapToLong(row -> row.jobs().size()).sum(),
        rows.stream().mapToLong(TrainingLog.Row::deadJobs).sum(),
        rows.stream().filter(TrainingLog.Row::skipped).count(),
        tokens,
        trained,
        tokens / trained,
        known(targetBusySeconds / (seconds * run.targets())),
        known(working / (trained * run.drafter().parallelism())),
        known(poolStallSeconds),
        RunBalance.of(run.directory()).map(Balance::figures).orElse(null),
        null,
        null,
        null,
        drafter.toString(),
        sha256(drafter.resolve("model.safetensors")));
  }

  private static Double known(double value) {
    return Double.isFinite(value) ? value : null;
  }

  private static String sha256(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      new DigestInputStream(in, digest).transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    } catch (NoSuchFileException e) {
      throw new InputException("The run ended without a drafter at " + file + ".", e);
    }
  }
}
