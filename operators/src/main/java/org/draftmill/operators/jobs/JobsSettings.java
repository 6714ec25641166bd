package org.draftmill.operators.jobs;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanOptions;

/**
 * Which jobs a run has.
 *
 * @param dataset its directory
 * @param plan directory of the plan
 * @param planning how to plan, or how the plan must have been made
 * @param timeout of reading the next part of a list
 */
public record JobsSettings(String dataset, String plan, PlanOptions planning, Duration timeout) {

  /**
   * Reads and checks the options.
   *
   * @param seed of the run
   * @param defaultPlan where the plan lies if the options do not say
   * @throws InputException naming the option that is missing or cannot be
   */
  public static JobsSettings from(ReadableConfig config, long seed, String defaultPlan) {
    String dataset = config.getOptional(JobsOptions.DATASET).orElseThrow(() -> missing());
    String plan = config.getOptional(JobsOptions.PLAN).orElse(defaultPlan);
    PlanOptions planning =
        new PlanOptions(
            seed,
            config.get(JobsOptions.EPOCHS),
            config.get(JobsOptions.TOKEN_BUDGET),
            new BucketBounds(config.get(JobsOptions.BUCKET_BOUNDS)),
            Oversized.parse(config.get(JobsOptions.OVERSIZED)));
    Duration timeout = config.get(JobsOptions.TIMEOUT);
    if (timeout.toMillis() < 1) {
      throw new InputException(
          "%s is %s; it must be at least 1 ms.".formatted(JobsOptions.TIMEOUT.key(), timeout));
    }
    return new JobsSettings(dataset, plan, planning, timeout);
  }

  private static InputException missing() {
    ConfigOption<String> option = JobsOptions.DATASET;
    return new InputException(
        "The option %s is missing; give it the directory that `prepare` wrote."
            .formatted(option.key()));
  }
}
