package org.draftmill.operators.jobs;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanOptions;

/** Options of the list of jobs. */
public final class JobsOptions {

  public static final ConfigOption<String> DATASET =
      ConfigOptions.key("jobs.dataset")
          .stringType()
          .noDefaultValue()
          .withDescription("The dataset to train on: a directory that `prepare` wrote.");

  public static final ConfigOption<String> PLAN =
      ConfigOptions.key("jobs.plan")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The directory of the plan, made there if it is absent. Default: `plan` in the run"
                  + " directory.");

  public static final ConfigOption<Integer> EPOCHS =
      ConfigOptions.key("jobs.epochs")
          .intType()
          .defaultValue(1)
          .withDescription("Passes over the dataset, each in an order of its own.");

  public static final ConfigOption<Integer> TOKEN_BUDGET =
      ConfigOptions.key("jobs.token-budget")
          .intType()
          .defaultValue(PlanOptions.DEFAULT_TOKEN_BUDGET)
          .withDescription("The most tokens of a job, which is what a target reads at once.");

  public static final ConfigOption<List<Integer>> BUCKET_BOUNDS =
      ConfigOptions.key("jobs.bucket-bounds")
          .intType()
          .asList()
          .defaultValues(BucketBounds.DEFAULT.upper().toArray(Integer[]::new))
          .withDescription(
              "Upper bounds, in tokens, of the length buckets; a job's sequences are of one"
                  + " bucket.");

  public static final ConfigOption<String> OVERSIZED =
      ConfigOptions.key("jobs.oversized")
          .stringType()
          .defaultValue(Oversized.OWN_JOB.option())
          .withDescription(
              "What becomes of a sequence that is longer than the token budget: `own-job` or"
                  + " `reject`.");

  public static final ConfigOption<Boolean> VERIFY =
      ConfigOptions.key("jobs.verify")
          .booleanType()
          .defaultValue(true)
          .withDescription(
              "Read plan and dataset whole before a run begins or goes on, and compare their"
                  + " checksums. Takes about a second for each 500 MB; damage that is not found"
                  + " then is trained on.");

  public static final ConfigOption<Duration> TIMEOUT =
      ConfigOptions.key("jobs.timeout")
          .durationType()
          .defaultValue(Duration.ofMinutes(10))
          .withDescription(
              "When the next part of a job list takes longer to read, its file system is taken to"
                  + " hang, and the run restarts from its last checkpoint. Looked at whenever a"
                  + " checkpoint completes.");

  private JobsOptions() {}
}
