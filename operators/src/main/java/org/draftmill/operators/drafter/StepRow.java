package org.draftmill.operators.drafter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.serializers.StepMarker;

/**
 * One step in the training log: a JSON object a line. {@code jobs} are the positions of the trained
 * microbatches in the run, in the order of their release; {@code dead_jobs} those that kept their
 * place with weight zero; {@code buckets} counts the trained ones by length bucket. {@code
 * wait_pool} to {@code optimizer} are the seconds of all drafters added up, {@code seconds} is the
 * time from step to step. A number that there is none for, the loss of a step without a supervised
 * token say, is null.
 *
 * @param accumulation microbatches of a step
 */
record StepRow(StepReport report, int accumulation) {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The columns of {@link #toCsv}. */
  static final String CSV_HEADER =
      "step,epoch,loss,accuracy,joint_prefix,lr,grad_norm,tokens,supervised,skipped,seconds,"
          + "wait_pool,forward,backward,reduce,optimizer";

  String toJson() {
    StepFigures figures = report.figures();
    ObjectNode row = JSON.objectNode();
    scalars(row::set);
    ArrayNode bySlot = row.putArray("accuracy_by_slot");
    for (double accuracy : figures.accuracyBySlot()) {
      bySlot.add(number(accuracy));
    }
    ArrayNode jobs = row.putArray("jobs");
    ArrayNode dead = row.putArray("dead_jobs");
    Map<Integer, Integer> counts = new TreeMap<>();
    for (StepMarker.Release release : releases()) {
      (release.tombstone() ? dead : jobs).add(release.job().position());
      if (!release.tombstone()) {
        counts.merge(release.job().bucket(), 1, Integer::sum);
      }
    }
    ObjectNode buckets = row.putObject("buckets");
    counts.forEach((bucket, count) -> buckets.put(String.valueOf(bucket), count));
    return row.toString();
  }

  /** The numbers alone, for plotting. */
  String toCsv() {
    StringJoiner line = new StringJoiner(",");
    scalars((name, value) -> line.add(value.isNull() ? "" : value.toString()));
    return line.toString();
  }

  private void scalars(BiConsumer<String, JsonNode> to) {
    StepFigures figures = report.figures();
    StageSeconds seconds = report.secondsOfAll();
    to.accept("step", JSON.numberNode(figures.step()));
    to.accept("epoch", JSON.numberNode(epoch()));
    to.accept("loss", number(figures.loss()));
    to.accept("accuracy", number(figures.accuracy()));
    to.accept("joint_prefix", number(figures.jointPrefix()));
    to.accept("lr", number(figures.learningRate()));
    to.accept("grad_norm", number(figures.gradientNorm()));
    to.accept("tokens", JSON.numberNode(figures.tokens()));
    to.accept("supervised", JSON.numberNode(figures.supervised()));
    to.accept("skipped", JSON.booleanNode(figures.skipped()));
    to.accept("seconds", number(report.wallSeconds()));
    to.accept("wait_pool", number(seconds.waitPool()));
    to.accept("forward", number(seconds.forward()));
    to.accept("backward", number(seconds.backward()));
    to.accept("reduce", number(seconds.reduce()));
    to.accept("optimizer", number(seconds.optimizer()));
  }

  /** The pass over the dataset that the step's first release belongs to. */
  private int epoch() {
    List<StepMarker.Release> releases = releases();
    return releases.isEmpty() ? 0 : releases.get(0).job().epoch();
  }

  /** In the order of their release: number {@code g} belongs to shard {@code g mod shards}. */
  private List<StepMarker.Release> releases() {
    record Numbered(long number, StepMarker.Release release) {}

    int shards = report.markers().size();
    long first = report.figures().step() * accumulation;
    List<Numbered> numbered = new ArrayList<>();
    for (StepMarker marker : report.markers()) {
      long number = first + Math.floorMod(marker.shard() - first, (long) shards);
      for (StepMarker.Release release : marker.releases()) {
        numbered.add(new Numbered(number, release));
        number += shards;
      }
    }
    numbered.sort(Comparator.comparingLong(Numbered::number));
    return numbered.stream().map(Numbered::release).toList();
  }

  private static JsonNode number(double value) {
    return Double.isFinite(value) ? JSON.numberNode(value) : JSON.nullNode();
  }
}
