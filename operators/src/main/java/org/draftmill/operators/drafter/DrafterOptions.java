package org.draftmill.operators.drafter;

import static org.apache.flink.configuration.ConfigOptions.key;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;
import org.draftmill.compute.drafter.OptimizerSettings;

/** Options of the drafter and of its training. */
public final class DrafterOptions {

  public static final ConfigOption<Integer> PARALLELISM =
      key("drafter.parallelism")
          .intType()
          .defaultValue(1)
          .withDescription(
              "How many drafters train together, each on a device of its own. The weights do not"
                  + " depend on it.");

  public static final ConfigOption<String> DEVICE =
      key("drafter.device")
          .stringType()
          .defaultValue("auto")
          .withDescription(
              "What drafters compute on: auto (a GPU of their own where the cluster has GPUs, else"
                  + " the CPU), cuda (a GPU, or nothing), cpu, or reference (slow, for"
                  + " comparison).");

  public static final ConfigOption<Integer> THREADS =
      key("drafter.threads")
          .intType()
          .noDefaultValue()
          .withDescription(
              "CPU threads of each drafter; without it the processor's cores divided by"
                  + " drafter.parallelism. The weights do not depend on it.");

  public static final ConfigOption<Integer> LAYERS =
      key("drafter.layers")
          .intType()
          .defaultValue(5)
          .withDescription("Decoder layers of the drafter.");

  public static final ConfigOption<Integer> BLOCK_SIZE =
      key("drafter.block-size")
          .intType()
          .defaultValue(16)
          .withDescription(
              "Tokens of a draft block: the last known one and those drafted at once.");

  public static final ConfigOption<List<Integer>> SLIDING_LAYERS =
      key("drafter.sliding-layers")
          .intType()
          .asList()
          .defaultValues()
          .withDescription(
              "Layers, counted from 0, that see only drafter.sliding-window positions of the"
                  + " context.");

  public static final ConfigOption<Integer> SLIDING_WINDOW =
      key("drafter.sliding-window")
          .intType()
          .defaultValue(0)
          .withDescription("Positions that a layer of drafter.sliding-layers sees.");

  public static final ConfigOption<Integer> MASK_TOKEN =
      key("drafter.mask-token")
          .intType()
          .noDefaultValue()
          .withDescription(
              "Token id that stands for a token still to be drafted; without it the tokenizer's own"
                  + " mask token, else the first row of the embedding that no token uses.");

  public static final ConfigOption<String> INIT =
      key("drafter.init")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Directory of a drafter of the same shape whose weights are the first ones; without"
                  + " it they are drawn from the seed.");

  public static final ConfigOption<Integer> ANCHORS =
      key("drafter.anchors")
          .intType()
          .defaultValue(512)
          .withDescription("Most draft blocks that are trained in one document.");

  public static final ConfigOption<Integer> ACCUMULATION =
      key("drafter.accumulation")
          .intType()
          .defaultValue(12)
          .withDescription("Microbatches of an optimizer step, all drafters together.");

  public static final ConfigOption<Double> LEARNING_RATE =
      key("drafter.optimizer.lr")
          .doubleType()
          .defaultValue(OptimizerSettings.DEFAULTS.learningRate())
          .withDescription("AdamW's largest learning rate, after the warm-up.");

  public static final ConfigOption<Double> WARMUP =
      key("drafter.optimizer.warmup")
          .doubleType()
          .defaultValue(OptimizerSettings.DEFAULTS.warmup())
          .withDescription("Part of all steps over which the learning rate grows.");

  public static final ConfigOption<OptimizerSettings.Schedule> SCHEDULE =
      key("drafter.optimizer.schedule")
          .enumType(OptimizerSettings.Schedule.class)
          .defaultValue(OptimizerSettings.DEFAULTS.schedule())
          .withDescription(
              "The learning rate after the warm-up: constant, cosine (falls to zero), or wsd"
                  + " (constant, then falls to zero over drafter.optimizer.decay).");

  public static final ConfigOption<Double> DECAY =
      key("drafter.optimizer.decay")
          .doubleType()
          .defaultValue(OptimizerSettings.DEFAULTS.decay())
          .withDescription("Part of all steps, at the end, over which wsd falls to zero.");

  public static final ConfigOption<Double> WEIGHT_DECAY =
      key("drafter.optimizer.weight-decay")
          .doubleType()
          .defaultValue(OptimizerSettings.DEFAULTS.weightDecay())
          .withDescription("Decoupled weight decay, on matrices only.");

  public static final ConfigOption<Double> CLIP =
      key("drafter.optimizer.clip")
          .doubleType()
          .defaultValue(OptimizerSettings.DEFAULTS.clip())
          .withDescription("Largest global norm of a step's gradient.");

  public static final ConfigOption<List<Double>> BETAS =
      key("drafter.optimizer.betas")
          .doubleType()
          .asList()
          .defaultValues(OptimizerSettings.DEFAULTS.beta1(), OptimizerSettings.DEFAULTS.beta2())
          .withDescription("AdamW's decay of the first and of the second moment.");

  public static final ConfigOption<Double> EPSILON =
      key("drafter.optimizer.epsilon")
          .doubleType()
          .defaultValue(OptimizerSettings.DEFAULTS.epsilon())
          .withDescription("Added to the root of AdamW's second moment.");

  public static final ConfigOption<Boolean> USE_SOFT_LABELS =
      key("drafter.loss.use-soft-labels")
          .booleanType()
          .defaultValue(false)
          .withDescription(
              "Whether the target's probabilities are learned besides its tokens; its final hidden"
                  + " states then travel too.");

  public static final ConfigOption<Double> KL_TEMPERATURE =
      key("drafter.loss.kl-temperature")
          .doubleType()
          .defaultValue(1.0)
          .withDescription("Temperature of both sides of the divergence from soft labels.");

  public static final ConfigOption<Double> KL_WEIGHT =
      key("drafter.loss.kl-weight")
          .doubleType()
          .defaultValue(0.0)
          .withDescription("Weight of soft labels, 0 to 1; the rest goes to the tokens.");

  public static final ConfigOption<Double> GAMMA =
      key("drafter.loss.gamma")
          .doubleType()
          .noDefaultValue()
          .withDescription(
              "Slot k of a block weighs exp(-(k-1)/gamma); without it 4 for blocks of up to 8"
                  + " tokens, else 7.");

  public static final ConfigOption<Double> STREAK_ALPHA =
      key("drafter.loss.streak-alpha")
          .doubleType()
          .noDefaultValue()
          .withDescription(
              "Smoothing of the streak weight, which weighs a slot by the runs of hits that it can"
                  + " lengthen; off without it.");

  public static final ConfigOption<Double> CAP_LAMBDA =
      key("drafter.loss.cap-lambda")
          .doubleType()
          .defaultValue(0.0)
          .withDescription("Weight of the entropy of right drafts (confidence); 0 is off.");

  public static final ConfigOption<Integer> PASS_ROWS =
      key("drafter.pass-rows")
          .intType()
          .defaultValue(org.draftmill.compute.drafter.DrafterSettings.DEFAULT_PASS_ROWS)
          .withDescription(
              "Rows of draft blocks that one forward and backward may hold; a microbatch with more"
                  + " is computed in several. Bounds the memory of activations.");

  public static final ConfigOption<MemorySize> LOGIT_MEMORY =
      key("drafter.logit-memory")
          .memoryType()
          .defaultValue(
              new MemorySize(org.draftmill.compute.drafter.DrafterSettings.DEFAULT_LOGIT_BYTES))
          .withDescription("Memory for the vocabulary's logits, which are computed in chunks.");

  public static final ConfigOption<Duration> TIMEOUT =
      key("drafter.timeout")
          .durationType()
          .defaultValue(Duration.ofMinutes(10))
          .withDescription(
              "A drafter that is at one microbatch or one optimizer step for longer fails, and the"
                  + " run restarts from its last checkpoint.");

  public static final ConfigOption<Duration> REDUCE_TIMEOUT =
      key("drafter.reduce-timeout")
          .durationType()
          .defaultValue(Duration.ofSeconds(60))
          .withDescription(
              "How long another drafter's process may be silent in an exchange. One that is slow"
                  + " but alive is waited for.");

  public static final ConfigOption<Integer> MAX_SKIPPED_STEPS =
      key("drafter.max-skipped-steps")
          .intType()
          .defaultValue(10)
          .withDescription(
              "A step whose loss or gradient is not finite, or too large to be summed exactly, is"
                  + " skipped by all drafters together: weights and moments stay. With more skipped"
                  + " steps than this the run fails.");

  public static final ConfigOption<String> BIND_HOST =
      key("drafter.bind-host")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Address at which a drafter listens for the others, and which they call; without it"
                  + " the TaskManager's own. Never all interfaces.");

  public static final ConfigOption<Integer> KEEP_EXPORTS =
      key("drafter.keep-exports")
          .intType()
          .defaultValue(3)
          .withDescription(
              "How many exported drafters stay below export/ besides the latest one; older ones are"
                  + " deleted. 0 keeps all.");

  private DrafterOptions() {}
}
