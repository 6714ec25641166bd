package org.draftmill.job.train;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.draftmill.job.console.Text;

/** How a run stands, as the line at the bottom of a terminal or as a line of a log. */
final class ProgressLine {
  private static final int BAR = 24;

  private ProgressLine() {}

  /**
   * What is known; what is not is NaN or negative.
   *
   * @param step last finished step
   * @param steps of the whole run
   * @param tokensPerSecond trained, over the last steps
   * @param jointPrefix exact joint prefix of the last steps: an estimate of the acceptance length
   * @param poolReady microbatches ready in the pool
   * @param remaining to the end at the present pace, null when there is no pace yet
   */
  record State(
      long step,
      long steps,
      double loss,
      double jointPrefix,
      double tokensPerSecond,
      double poolReady,
      Duration remaining) {}

  /** {@code [██████░░░░] 412/808 51 % loss 4.31 …}. */
  static String bar(State state) {
    double share = state.steps() == 0 ? 1 : (double) state.step() / state.steps();
    int full = (int) Math.floor(share * BAR);
    String bar = "█".repeat(full) + "░".repeat(BAR - full);
    return bar + "  " + String.join("  ", parts(state));
  }

  /** {@code step 412/808, 51 %, loss 4.31, …}. */
  static String plain(State state) {
    return String.join(", ", parts(state));
  }

  private static List<String> parts(State state) {
    List<String> parts = new ArrayList<>();
    parts.add("step " + state.step() + "/" + state.steps());
    parts.add(Text.percent(state.steps() == 0 ? 1 : (double) state.step() / state.steps()));
    if (!Double.isNaN(state.loss())) {
      parts.add(String.format(Locale.ROOT, "loss %.3f", state.loss()));
    }
    if (!Double.isNaN(state.jointPrefix())) {
      parts.add(String.format(Locale.ROOT, "prefix %.2f", state.jointPrefix()));
    }
    if (!Double.isNaN(state.tokensPerSecond())) {
      parts.add(Text.shortCount(state.tokensPerSecond()) + " tokens/s");
    }
    if (!Double.isNaN(state.poolReady())) {
      parts.add(String.format(Locale.ROOT, "pool %.0f", state.poolReady()));
    }
    if (state.remaining() != null) {
      parts.add("ETA " + Text.duration(state.remaining()));
    }
    return parts;
  }
}
