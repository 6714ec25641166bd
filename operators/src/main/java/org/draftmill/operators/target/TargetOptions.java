package org.draftmill.operators.target;

import java.time.Duration;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.draftmill.compute.target.Taps;
import org.draftmill.serializers.HiddenDType;

/** Options of the targets. */
public final class TargetOptions {

  public static final ConfigOption<String> MODEL =
      ConfigOptions.key("target.model")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "The target: a Hugging Face folder with `config.json`, safetensors and tokenizer, at"
                  + " the same path on every machine.");

  public static final ConfigOption<Integer> PARALLELISM =
      ConfigOptions.key("target.parallelism")
          .intType()
          .defaultValue(1)
          .withDescription("How many targets read jobs, each on a device of its own.");

  public static final ConfigOption<String> DEVICE =
      ConfigOptions.key("target.device")
          .stringType()
          .defaultValue("auto")
          .withDescription(
              "What targets compute on: `auto` (a GPU of their own where the cluster has GPUs, else"
                  + " the CPU), `cuda` (a GPU, or nothing), `cpu`, or `reference` (slow, for"
                  + " comparison).");

  public static final ConfigOption<Integer> THREADS =
      ConfigOptions.key("target.threads")
          .intType()
          .noDefaultValue()
          .withDescription(
              "Threads of a target's forward pass on the host. Default: the cores of the process"
                  + " divided by its targets and drafters.");

  public static final ConfigOption<String> TAPS =
      ConfigOptions.key("target.taps")
          .stringType()
          .defaultValue(Taps.AUTO)
          .withDescription(
              "The decoder layers, from 0, whose output the drafter sees: ids separated by commas,"
                  + " or `auto` for as many as the drafter has layers, evenly spread.");

  public static final ConfigOption<HiddenDType> HIDDEN_DTYPE =
      ConfigOptions.key("target.hidden-dtype")
          .enumType(HiddenDType.class)
          .defaultValue(HiddenDType.BFLOAT16)
          .withDescription("How hidden states are stored on their way to the drafters.");

  public static final ConfigOption<MemorySize> CHUNK_SIZE =
      ConfigOptions.key("target.chunk-size")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(4))
          .withDescription(
              "The most bytes of a record with hidden states. A job travels as several; Flink takes"
                  + " records above 5 MiB through a file, so leave it below.");

  public static final ConfigOption<Integer> RETRIES =
      ConfigOptions.key("target.retries")
          .intType()
          .defaultValue(2)
          .withDescription(
              "How often the forward pass of a job is tried again when it fails or is not finite."
                  + " Then the job becomes a dead letter and is left out.");

  public static final ConfigOption<Integer> MAX_DEAD_LETTERS =
      ConfigOptions.key("target.max-dead-letters")
          .intType()
          .defaultValue(10)
          .withDescription("With more jobs left out than this the run fails.");

  public static final ConfigOption<Duration> TIMEOUT =
      ConfigOptions.key("target.timeout")
          .durationType()
          .defaultValue(Duration.ofMinutes(10))
          .withDescription(
              "A target whose preparing, forward pass or packing of one job lasts longer is taken"
                  + " to hang, and restarted.");

  private TargetOptions() {}
}
