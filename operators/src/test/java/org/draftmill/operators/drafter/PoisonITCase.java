package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.operators.TestingClusters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Hidden states that are not numbers never reach the weights. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PoisonITCase {
  @RegisterExtension
  private static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setConfiguration(TestingClusters.patient())
              .setNumberTaskManagers(2)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @TempDir Path temporary;
  private int runs;

  private TestingRun poisoned(int drafters, Long... positions) throws IOException {
    return new TestingRun(temporary.resolve("run-" + runs++), 30)
        .drafters(drafters)
        .hook((trainer, rank, attempt) -> new PoisonedTrainer(trainer, Set.of(positions)));
  }

  private static List<JsonNode> skipped(TestingRun run) throws IOException {
    return run.rows().stream().filter(row -> row.get("skipped").asBoolean()).toList();
  }

  @Test
  void allDraftersSkipTheStepTogetherAndEndWithTheSameFiniteWeights() throws Exception {
    TestingRun one = poisoned(1, 7L).execute();
    TestingRun three = poisoned(3, 7L).checkpoints(Duration.ofMillis(20), 0).execute();

    assertThat(skipped(one)).hasSize(1);
    JsonNode row = skipped(one).get(0);
    assertThat(row.get("jobs").toString()).as("the jobs of the step").contains("7");
    assertThat(row.get("grad_norm").isNull()).isTrue();
    for (float weight : DrafterExport.read(one.latest()).weights()) {
      assertThat(weight).isFinite();
    }
    assertThat(three.figures()).isEqualTo(one.figures());
    assertThat(three.sha256()).isEqualTo(one.sha256());
    assertThat(three.sha256())
        .isNotEqualTo(new TestingRun(temporary.resolve("sound"), 30).execute().sha256());
  }

  @Test
  void moreSkippedStepsThanAllowedFailTheRunWithoutARestart() throws Exception {
    TestingRun run = poisoned(2, 3L, 17L, 28L).checkpoints(Duration.ofMillis(20), 5);
    run.options.set(DrafterOptions.MAX_SKIPPED_STEPS, 2);

    assertThatThrownBy(run::execute)
        .satisfies(
            e ->
                assertThat(ExceptionUtils.findThrowable(e, SuppressRestartsException.class))
                    .isPresent())
        .rootCause()
        .hasMessageContaining("and with it 3 steps, more than the 2 that")
        .hasMessageContaining("drafter.max-skipped-steps")
        .hasMessageContaining("28")
        .hasMessageContaining("Lower drafter.optimizer.lr");
    assertThat(run.rows()).as("the step that broke the limit is the last").hasSizeLessThan(9);
  }
}
