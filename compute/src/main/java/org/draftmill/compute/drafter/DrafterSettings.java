package org.draftmill.compute.drafter;

import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.HeadLoss;

/**
 * How a drafter is trained.
 *
 * @param seed of the run: anchors are drawn from it
 * @param totalSteps of the run, what schedules refer to
 * @param anchors most draft blocks of a document
 * @param loss what is minimized
 * @param optimizer and its schedule
 * @param passRows query rows (blocks·B) that one forward and backward may hold: documents of a
 *     microbatch are taken together up to this size, so that memory does not grow with the
 *     microbatch. A document alone is never split
 * @param logitBytes memory for a chunk of vocabulary logits
 */
public record DrafterSettings(
    long seed,
    long totalSteps,
    int anchors,
    HeadLoss.Settings loss,
    OptimizerSettings optimizer,
    int passRows,
    long logitBytes) {

  public static final int DEFAULT_ANCHORS = 512;
  public static final int DEFAULT_PASS_ROWS = 16_384;
  public static final long DEFAULT_LOGIT_BYTES = 64L << 20;

  public DrafterSettings {
    require(totalSteps >= 0, "total steps", totalSteps, "at least 0");
    require(anchors > 0, "anchors", anchors, "at least 1");
    require(loss.gamma() > 0, "loss.gamma", loss.gamma(), "above 0");
    require(loss.klTemperature() > 0, "loss.kl-temperature", loss.klTemperature(), "above 0");
    require(
        loss.klWeight() >= 0 && loss.klWeight() <= 1, "loss.kl-weight", loss.klWeight(), "0 to 1");
    require(
        !loss.streak() || loss.streakAlpha() >= 0 && loss.streakAlpha() <= 1,
        "loss.streak-alpha",
        loss.streakAlpha(),
        "0 to 1");
    require(loss.capLambda() >= 0, "loss.cap-lambda", loss.capLambda(), "at least 0");
    require(passRows > 0, "pass-rows", passRows, "at least 1");
    require(logitBytes > 0, "logit-memory", logitBytes, "above 0");
  }

  /** With the usual limits on memory. */
  public DrafterSettings(
      long seed,
      long totalSteps,
      int anchors,
      HeadLoss.Settings loss,
      OptimizerSettings optimizer) {
    this(seed, totalSteps, anchors, loss, optimizer, DEFAULT_PASS_ROWS, DEFAULT_LOGIT_BYTES);
  }

  /** Hard labels with the position weights that suit a block size. */
  public static HeadLoss.Settings hardLabels(int blockSize) {
    return new HeadLoss.Settings(false, 1f, 0f, blockSize <= 8 ? 4f : 7f, Float.NaN, 0f);
  }

  /** Rows of logits that may exist at once: whole blocks, one at least. */
  int chunkRows(DrafterConfig config) {
    long blockBytes = 4L * config.slotsPerBlock() * config.vocabularySize();
    long blocks = Math.max(1, Math.min(logitBytes / blockBytes, passRows));
    return (int) blocks * config.slotsPerBlock();
  }

  private static void require(boolean condition, String key, Number found, String range) {
    if (!condition) {
      throw new InputException("drafter.%s is %s, but it must be %s.".formatted(key, found, range));
    }
  }
}
