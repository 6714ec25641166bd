package org.draftmill.operators.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.plan.BucketBounds;
import org.draftmill.corpus.plan.Oversized;
import org.draftmill.corpus.plan.PlanOptions;
import org.junit.jupiter.api.Test;

class JobsSettingsTest {
  private static JobsSettings from(Map<String, String> options) {
    return JobsSettings.from(Configuration.fromMap(options), 42, "run/plan");
  }

  @Test
  void whatIsNotSaidHasDefaults() {
    JobsSettings settings = from(Map.of("jobs.dataset", "data"));

    assertThat(settings.dataset()).isEqualTo("data");
    assertThat(settings.plan()).isEqualTo("run/plan");
    assertThat(settings.planning()).isEqualTo(PlanOptions.withSeed(42));
  }

  @Test
  void optionsSayOtherwise() {
    JobsSettings settings =
        from(
            Map.of(
                "jobs.dataset", "data",
                "jobs.plan", "plans/one",
                "jobs.epochs", "6",
                "jobs.token-budget", "2048",
                "jobs.bucket-bounds", "64;128",
                "jobs.oversized", "reject"));

    assertThat(settings.plan()).isEqualTo("plans/one");
    assertThat(settings.planning())
        .isEqualTo(new PlanOptions(42, 6, 2048, BucketBounds.parse("64,128"), Oversized.REJECT));
  }

  @Test
  void whatCannotBeIsRefused() {
    assertThatThrownBy(() -> from(Map.of()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("jobs.dataset is missing");
    assertThatThrownBy(() -> from(Map.of("jobs.dataset", "data", "jobs.epochs", "0")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("epochs");
  }
}
