package org.draftmill.job.evaluate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.draftmill.compute.decoding.DecodingFigures;
import org.draftmill.job.console.Text;

/** What a speculative decoding showed, for people. */
public final class FiguresReport {
  private FiguresReport() {}

  /** The figures in lines. */
  public static List<String> lines(DecodingFigures figures) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s prompts, %s new tokens in %s rounds"
            .formatted(
                Text.count(figures.prompts()),
                Text.count(figures.newTokens()),
                Text.count(figures.rounds())));
    lines.add(
        String.format(
            Locale.ROOT,
            "acceptance length  %.3f pooled, %.3f mean of means",
            figures.tauPooled(),
            figures.tauMeanOfMeans()));
    lines.add(
        "accepted by slot   "
            + figures.acceptedBySlot().stream()
                .map(Text::percent)
                .collect(Collectors.joining("  ")));
    lines.add(
        String.format(
            Locale.ROOT,
            "speed              target %.0f tokens/s, speculative %.0f tokens/s: %.2f×",
            figures.targetTokensPerSecond(),
            figures.speculativeTokensPerSecond(),
            figures.speedup()));
    figures
        .greedyEqual()
        .ifPresent(
            equal ->
                lines.add(
                    "greedy output      "
                        + (equal
                            ? "is the target's own, token for token"
                            : "DIFFERS from the target's own")));
    return lines;
  }
}
