package org.draftmill.job.config;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.operators.gpu.GpuProducts;
import org.draftmill.operators.start.StartClock;

/** Options of a run as a whole. */
public final class RunOptions {

  public static final ConfigOption<String> DIR =
      ConfigOptions.key("run.dir")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The run directory: plan, checkpoints, training log, exported drafters. A run that"
                  + " has a checkpoint there goes on from it.");

  public static final ConfigOption<Long> SEED =
      ConfigOptions.key("run.seed")
          .longType()
          .defaultValue(42L)
          .withDescription(
              "Decides the order of jobs and releases, the anchors and the drafter's"
                  + " initialisation. Same plan and seed, same weights.");

  public static final ConfigOption<Long> MAX_STEPS =
      ConfigOptions.key("run.max-steps")
          .longType()
          .noDefaultValue()
          .withDescription(
              "Train only this many optimizer steps of the plan; by default all. The schedule of"
                  + " the learning rate ends with them.");

  public static final ConfigOption<Integer> WEB_PORT =
      ConfigOptions.key("run.web-port")
          .intType()
          .defaultValue(8081)
          .withDescription(
              "Port of Flink's web UI in embedded runs; 0 takes any free one. If it is taken, the"
                  + " next ones are tried.");

  public static final ConfigOption<Duration> WAIT_FOR_RESOURCES =
      ConfigOptions.key("run.wait-for-resources")
          .durationType()
          .defaultValue(Duration.ofSeconds(30))
          .withDescription(
              "How long `flink run` waits until a standalone cluster has the task slots and GPUs"
                  + " that the run needs; then the run is refused with what is missing. Longer where"
                  + " TaskManagers come as they are needed. Kubernetes and YARN start them for a run"
                  + " that is there already: they are not asked, and Flink's slot.request.timeout"
                  + " decides.");

  public static final ConfigOption<Integer> RESTART_ATTEMPTS =
      ConfigOptions.key("run.restart-attempts")
          .intType()
          .defaultValue(6)
          .withDescription(
              "How many failures in a row are answered by a restart from the last checkpoint before"
                  + " the run fails. An hour without one ends the row.");

  public static final ConfigOption<Duration> RESTART_DELAY =
      ConfigOptions.key("run.restart-delay")
          .durationType()
          .defaultValue(Duration.ofSeconds(1))
          .withDescription(
              "How long a restart waits after a failure; after the next one in a row twice as long, up to"
                  + " ten times.");

  public static final ConfigOption<MatrixProducts> PRODUCTS = GpuProducts.OPTION;

  public static final ConfigOption<Duration> START_TIMEOUT = StartClock.TIMEOUT;

  private RunOptions() {}
}
