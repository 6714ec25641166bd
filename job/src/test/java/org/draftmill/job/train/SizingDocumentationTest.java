package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.draftmill.job.console.Text;
import org.draftmill.operators.pool.ShardKeys;
import org.junit.jupiter.api.Test;

/** Keeps the worked examples of {@code docs/sizing.md} what the code computes. */
class SizingDocumentationTest {
  private static final Path PAGE = Path.of("..", "docs", "sizing.md");
  private static final String BEGIN = "<!-- computed: SizingDocumentationTest -->\n";
  private static final String END = "<!-- end -->\n";

  private static final SizingExample ONE = new SizingExample(1, 12, 49_152, 16_384);
  private static final SizingExample EIGHT = new SizingExample(8, 24, 40_960, 16_384);
  private static final SizingExample SIXTY_FOUR = new SizingExample(64, 192, 16_384, 65_536);
  private static final List<SizingExample> ALL = List.of(ONE, EIGHT, SIXTY_FOUR);

  private static String gigabytes(double bytes) {
    return String.format(Locale.ROOT, bytes < 10e9 ? "%.1f GB" : "%,.0f GB", bytes / 1e9);
  }

  private static String seconds(double seconds) {
    return String.format(Locale.ROOT, seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  }

  private static String table() {
    List<String> lines = new ArrayList<>();
    lines.add("| | 8 GPUs | 64 GPUs | 512 GPUs |");
    lines.add("| --- | ---: | ---: | ---: |");
    row(
        lines,
        "hosts; targets : drafters",
        e -> e.hosts() + "; " + e.targets() + " : " + e.drafters());
    row(lines, "tokens/s, if only the stages took time", e -> Text.shortCount(e.tokensPerSecond()));
    row(lines, "`jobs.token-budget`", e -> Text.count(e.tokenBudget()));
    row(lines, "`drafter.accumulation`", e -> Text.count(e.accumulation()));
    row(lines, "`drafter.pass-rows`", e -> Text.count(e.passRows()));
    row(lines, "passes of a step, at most 1,024", e -> Text.count(e.passes()));
    row(lines, "tokens of a step", e -> Text.shortCount(e.tokensPerStep()));
    row(lines, "seconds of a step without the all-reduce", e -> seconds(e.stepSeconds()));
    row(lines, "`pool.shards` and `pool.parallelism`", e -> Text.count(e.hosts()));
    row(lines, "network, out of each host and into it", e -> gigabytes(e.networkPerHost()) + "/s");
    row(lines, "pool and microbatches under way, a host", e -> gigabytes(e.poolPerHost()));
    row(lines, "all-reduce, out of each drafter in a step", e -> gigabytes(e.reduceBytes()));
    row(lines, "… over a link of 100 Gbit/s", e -> seconds(e.reduceBytes() / SizingExample.LINK));
    row(lines, "… time left for computing", e -> Text.percent(e.efficiency(SizingExample.LINK)));
    row(
        lines,
        "… over one TCP stream of 1 GB/s, as measured",
        e -> seconds(e.reduceBytes() / SizingExample.STREAM));
    row(lines, "… time left for computing", e -> Text.percent(e.efficiency(SizingExample.STREAM)));
    row(lines, "drafters' state in a checkpoint", e -> gigabytes(e.drafterStateBytes()));
    row(lines, "a checkpoint, of each host", e -> gigabytes(e.checkpointPerHost()));
    row(lines, "… at 2 GB/s a host", e -> seconds(e.checkpointPerHost() / SizingExample.STORAGE));
    row(lines, "jobs/s from the list", e -> String.format(Locale.ROOT, "%.1f", e.jobsPerSecond()));
    return String.join("\n", lines) + "\n";
  }

  private static void row(List<String> lines, String name, Function<SizingExample, String> cell) {
    StringBuilder line = new StringBuilder("| " + name + " |");
    ALL.forEach(example -> line.append(' ').append(cell.apply(example)).append(" |"));
    lines.add(line.toString());
  }

  @Test
  void theExamplesAreWhatTheCodeComputes() throws Exception {
    String page = Files.readString(PAGE);
    int from = page.indexOf(BEGIN) + BEGIN.length();
    int to = page.indexOf(END);
    String rendered = page.substring(0, from) + table() + page.substring(to);
    if (Boolean.getBoolean("draftmill.docs.write")) {
      Files.writeString(PAGE, rendered);
    }
    assertThat(Files.readString(PAGE))
        .as(
            "docs/sizing.md is stale; refresh it: mvn -pl job -am test -Dtest=SizingDocumentationTest"
                + " -Dsurefire.failIfNoSpecifiedTests=false -Ddraftmill.docs.write=true")
        .isEqualTo(rendered);
  }

  /** Numbers that the page's text and the design rely on. */
  @Test
  void theFormulasGiveTheKnownNumbers() {
    assertThat(SizingExample.bytesPerToken()).isEqualTo(5 * 4096 * 2 + 5);
    assertThat(SizingExample.PARAMETERS).isBetween(1_040_000_000L, 1_060_000_000L);
    assertThat(ONE.microbatchBytes()).isEqualTo(49_152L * 40_965);
    assertThat(ONE.networkPerHost()).as("one host needs no network").isZero();
    assertThat(ONE.reduceBytes()).isCloseTo(8.4e9, within(0.1e9));
    assertThat(SIXTY_FOUR.hosts()).isEqualTo(ShardKeys.MAX_SHARDS);
  }

  @Test
  void theExamplesCanBeRun() {
    assertThat(ALL)
        .allSatisfy(
            example -> {
              assertThat(example.passes()).isLessThanOrEqualTo(PassLimit.PASSES);
              assertThat(example.accumulation() % example.drafters()).isZero();
              assertThat(example.hosts()).isLessThanOrEqualTo(ShardKeys.MAX_SHARDS);
            });
  }
}
