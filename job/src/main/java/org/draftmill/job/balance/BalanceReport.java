package org.draftmill.job.balance;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.job.balance.Balance.Split;
import org.draftmill.job.console.Text;

/** A {@link Balance} in words. */
public final class BalanceReport {
  /** A gain below this is within what such figures can tell. */
  private static final double WORTH_IT = 0.03;

  /** Below this share of what the slower stage can do, something else holds the run up. */
  private static final double HELD_UP = 0.85;

  private BalanceReport() {}

  /** All of it. */
  public static List<String> lines(Balance balance) {
    List<String> lines = new ArrayList<>();
    if (balance.steps() < Balance.ENOUGH_STEPS) {
      lines.add(
          "Measured over %s: trust it after some hundred."
              .formatted(Text.count(balance.steps(), "step")));
    }
    lines.addAll(
        Text.table(
            List.of(
                List.of("", "devices", "tokens/s each", "together", "busy"),
                row("targets", balance.targets(), balance.targetCapacity()),
                row("drafters", balance.drafters(), balance.drafterCapacity()))));
    lines.add(verdict(balance) + " " + advice(balance));
    double share = balance.drafters().measured() / balance.present().tokensPerSecond();
    if (share < HELD_UP) {
      lines.add(
          "The run made %s tokens/s, %s of that: look at what the pool waits for and at the all-reduce."
              .formatted(Text.shortCount(balance.drafters().measured()), Text.percent(share)));
    }
    return lines;
  }

  private static List<String> row(String name, StageWork stage, double capacity) {
    return List.of(
        name,
        Integer.toString(stage.devices()),
        Text.shortCount(stage.perDevice()),
        Text.shortCount(capacity),
        Text.percent(stage.busy()));
  }

  /** In one line, for the log of a run. */
  public static String line(Balance balance) {
    return "targets can do %s tokens/s, drafters %s. %s %s"
        .formatted(
            Text.shortCount(balance.targetCapacity()),
            Text.shortCount(balance.drafterCapacity()),
            verdict(balance),
            advice(balance));
  }

  private static String verdict(Balance balance) {
    String waits = Text.percent(balance.waiting());
    return switch (balance.bound()) {
      case TARGETS ->
          "The targets bound the run: drafters have nothing to do " + waits + " of the time.";
      case DRAFTERS ->
          "The drafters bound the run: targets have nothing to do " + waits + " of the time.";
      case NEITHER -> "They are matched.";
    };
  }

  private static String advice(Balance balance) {
    Split best = balance.best();
    int devices = best.targets() + best.drafters();
    if (balance.gain() < WORTH_IT) {
      return "No other split of %s would do better.".formatted(Text.count(devices, "device"));
    }
    return "Best for %s: %s and %s, %s more (up to %s tokens/s)."
        .formatted(
            Text.count(devices, "device"),
            Text.count(best.targets(), "target"),
            Text.count(best.drafters(), "drafter"),
            Text.percent(balance.gain()),
            Text.shortCount(best.tokensPerSecond()));
  }
}
