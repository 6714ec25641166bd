package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.draftmill.operators.drafter.TestingDeliveries.job;
import static org.draftmill.operators.drafter.TestingDeliveries.marker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

class StepRowTest {
  private static final StepFigures FIGURES =
      new StepFigures(
          2, 2.5, 0.5, new double[] {0.75, Double.NaN}, 1.5, 1e-3, 0.25, 5, 1, 99, 7, false, 1, 2);
  private static final StageSeconds SECONDS = new StageSeconds(1, 2, 3, 4, 5);

  @Test
  void holdsWhatTheTrainingLogPromises() throws Exception {
    // Step 2 of 5 microbatches each begins with release 10, which belongs to shard 1.
    StepMarker even = marker(2, 0, 21, 23);
    StepMarker middle =
        StepMarker.of(
            2,
            1,
            List.of(new StepMarker.Release(job(20), false), new StepMarker.Release(job(24), true)));
    StepMarker odd = marker(2, 2, 22);
    StepReport report = new StepReport(FIGURES, List.of(even, middle, odd), SECONDS, SECONDS, 6.5);
    JsonNode row = new ObjectMapper().readTree(new StepRow(report, 5).toJson());

    assertThat(row.get("step").asInt()).isEqualTo(2);
    assertThat(row.get("epoch").asInt()).isZero();
    assertThat(row.get("loss").asDouble()).isEqualTo(2.5);
    assertThat(row.get("accuracy").asDouble()).isEqualTo(0.5);
    assertThat(row.get("joint_prefix").asDouble()).isEqualTo(1.5);
    assertThat(row.get("lr").asDouble()).isEqualTo(1e-3);
    assertThat(row.get("grad_norm").asDouble()).isEqualTo(0.25);
    assertThat(row.get("tokens").asInt()).isEqualTo(99);
    assertThat(row.get("supervised").asInt()).isEqualTo(7);
    assertThat(row.get("skipped").asBoolean()).isFalse();
    assertThat(row.get("seconds").asDouble()).isEqualTo(6.5);
    assertThat(row.get("wait_pool").asDouble()).isEqualTo(1);
    assertThat(row.get("forward").asDouble()).isEqualTo(2);
    assertThat(row.get("backward").asDouble()).isEqualTo(3);
    assertThat(row.get("reduce").asDouble()).isEqualTo(4);
    assertThat(row.get("optimizer").asDouble()).isEqualTo(5);
    assertThat(row.get("accuracy_by_slot").toString()).isEqualTo("[0.75,null]");
    assertThat(row.get("jobs").toString()).isEqualTo("[20,22,21,23]");
    assertThat(row.get("dead_jobs").toString()).isEqualTo("[24]");
    assertThat(row.get("buckets").toString()).isEqualTo("{\"0\":1,\"1\":1,\"2\":2}");
  }

  @Test
  void anEmptyStepHasNoFigures() throws Exception {
    StepFigures none =
        new StepFigures(
            0,
            Double.NaN,
            Double.NaN,
            new double[] {},
            Double.NaN,
            1e-3,
            Double.NaN,
            0,
            0,
            0,
            0,
            true,
            0,
            0);
    StepRow row = new StepRow(new StepReport(none, List.of(marker(0, 0)), SECONDS, SECONDS, 1), 5);
    JsonNode json = new ObjectMapper().readTree(row.toJson());
    assertThat(json.get("loss").isNull()).isTrue();
    assertThat(json.get("skipped").asBoolean()).isTrue();
    assertThat(row.toCsv()).isEqualTo("0,0,,,,0.001,,0,0,true,1.0,1.0,2.0,3.0,4.0,5.0");
    assertThat(StepRow.CSV_HEADER.split(",")).hasSameSizeAs(row.toCsv().split(",", -1));
  }
}
