package org.draftmill.job.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.TestingRuns.Result;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.train.Summary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The whole way on the shipped target, but for a few steps only. */
@Timeout(3600)
class DemoITCase {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  @TempDir Path dir;

  @Test
  void leavesADrafterThatEveryOtherCommandTakes() throws Exception {
    Path out = dir.resolve("demo");
    System.setProperty("draftmill.home", HOME.toString());
    try {
      requireDone(
          TestingRuns.draftmill("demo", "--out", out.toString(), "--port", "0", "--steps", "4"));
    } finally {
      System.clearProperty("draftmill.home");
    }

    Summary summary = Summary.read(out.resolve("summary.json"));
    assertThat(summary.steps()).isEqualTo(4);
    assertThat(summary.tauBefore()).isBetween(1.0, 1.1);
    assertThat(summary.tauAfter()).isGreaterThanOrEqualTo(1.0);
    assertThat(summary.greedyEqual()).isTrue();
    assertThat(summary.targetBusy()).isBetween(0.0, 1.0);
    assertThat(summary.weightsSha256()).hasSize(64);

    evaluates(out.resolve("export/latest"));
    exportsTheSame(out);
    requireDone(TestingRuns.draftmill("inspect", out.toString()));
    requireDone(TestingRuns.draftmill("inspect", out.resolve("export/latest").toString()));
    requireDone(TestingRuns.draftmill("inspect", out.resolve("data").toString()));
  }

  private void evaluates(Path drafter) throws Exception {
    Path json = dir.resolve("figures.json");
    Result result =
        TestingRuns.draftmill(
            "evaluate",
            "--target",
            HOME.resolve("demo/target").toString(),
            "--drafter",
            drafter.toString(),
            "--prompts",
            HOME.resolve("demo/prompts.jsonl").toString(),
            "--limit",
            "2",
            "--max-new-tokens",
            "8",
            "--json",
            json.toString());
    requireDone(result);
    assertThat(result.out()).contains("acceptance length").contains("token for token");
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.path("prompts").asInt()).isEqualTo(2);
    assertThat(figures.path("greedy_equal").asBoolean()).isTrue();
    assertThat(figures.path("accepted_by_slot").size()).isEqualTo(7);
  }

  private void exportsTheSame(Path run) throws Exception {
    Path exported = dir.resolve("exported");
    requireDone(
        TestingRuns.draftmill(
            "export", "--checkpoint", run.toString(), "--out", exported.toString()));
    assertThat(exported.resolve("model.safetensors"))
        .hasSameBinaryContentAs(run.resolve("export/latest/model.safetensors"));
    assertThat(exported.resolve("config.json"))
        .hasSameBinaryContentAs(run.resolve("export/latest/config.json"));
  }

  private static void requireDone(Result result) {
    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(ExitCode.DONE);
  }
}
