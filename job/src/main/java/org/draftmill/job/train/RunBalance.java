package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.balance.StageWork;
import org.draftmill.job.balance.TargetLog;
import org.draftmill.job.config.RunFile;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.target.TargetOptions;

/**
 * The {@link Balance} of a run, from what it has logged so far: {@code run.yaml}, {@code
 * log/live.csv} of the drafters, {@code log/targets.csv}.
 */
public final class RunBalance {
  /** The first steps wait for the pool to fill and for code to be compiled. */
  private static final int FIRST_STEPS = 20;

  /** At most this part of the steps is left out as first ones. */
  private static final int FIRST_PART = 5;

  /** The all-reduce of one step in ten is no longer than this: nobody was waited for in it. */
  private static final double WITHOUT_WAITING = 0.1;

  private RunBalance() {}

  /** Of a run that logs both stages; empty while one of them has done nothing. */
  public static Optional<Balance> of(RunDirectory run) throws IOException {
    return of(run, new TargetLog(run.targetLog()).total());
  }

  /**
   * @param targets what all targets have done, from wherever that is known
   * @throws InputException if there is no run
   */
  public static Optional<Balance> of(RunDirectory run, TargetLog.Total targets) throws IOException {
    if (!Files.exists(run.runFile())) {
      throw new InputException("There is no run in " + run.root() + ": run.yaml is missing.");
    }
    Configuration options = RunFile.read(run.runFile(), List.of());
    List<Map<String, Double>> all = new LiveLogReader(run.liveLog(), false).poll();
    List<Map<String, Double>> steps =
        all.subList(Math.min(FIRST_STEPS, all.size() / FIRST_PART), all.size());
    double tokens = sum(steps, "tokens");
    double busy = sum(steps, "forward") + sum(steps, "backward") + sum(steps, "optimizer");
    double elapsed = sum(steps, "seconds");
    if (!StageWork.isAnything(targets.tokens(), targets.busySeconds(), targets.elapsedSeconds())
        || !StageWork.isAnything(tokens, busy, elapsed)) {
      return Optional.empty();
    }
    return Optional.of(
        new Balance(
            new StageWork(
                options.get(TargetOptions.PARALLELISM),
                targets.tokens(),
                targets.busySeconds(),
                0,
                targets.elapsedSeconds()),
            new StageWork(
                options.get(DrafterOptions.PARALLELISM),
                tokens,
                busy,
                exchangeSeconds(steps),
                elapsed),
            options.get(DrafterOptions.ACCUMULATION),
            all.size()));
  }

  /** What the all-reduce costs where no drafter waits for another. */
  private static double exchangeSeconds(List<Map<String, Double>> steps) {
    double[] reduce = steps.stream().mapToDouble(step -> value(step, "reduce")).sorted().toArray();
    return reduce[(int) (WITHOUT_WAITING * (reduce.length - 1))] * reduce.length;
  }

  private static double sum(List<Map<String, Double>> steps, String column) {
    return steps.stream().mapToDouble(step -> value(step, column)).sum();
  }

  private static double value(Map<String, Double> step, String column) {
    return step.getOrDefault(column, 0.0);
  }
}
