package org.draftmill.job.train;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;

/** Reads {@code log/training-*.jsonl}: one row a step, each step once, in files of any order. */
public final class TrainingLog {
  /** How names of finished files begin and end. */
  public static final String PREFIX = "training";

  public static final String SUFFIX = ".jsonl";

  private TrainingLog() {}

  /**
   * A step as far as sums over a run need it.
   *
   * @param jobs positions of the trained jobs
   * @param seconds from the end of the step before
   * @param busySeconds of all drafters: forward, backward, optimizer
   * @param deadJobs that kept their place in the step without being trained
   * @param skipped whether the step changed nothing, for a value was not finite
   * @param loss NaN for a step without a supervised token
   */
  public record Row(
      long step,
      double loss,
      double jointPrefix,
      long tokens,
      List<Long> jobs,
      int deadJobs,
      boolean skipped,
      double seconds,
      double busySeconds) {}

  /** All rows by step. */
  public static List<Row> read(Path directory) throws IOException {
    List<Row> rows = new ArrayList<>();
    if (!Files.isDirectory(directory)) {
      return rows;
    }
    List<Path> files;
    try (Stream<Path> list = Files.list(directory)) {
      files = list.filter(TrainingLog::isLog).sorted().toList();
    }
    ObjectMapper json = new ObjectMapper();
    for (Path file : files) {
      try (BufferedReader reader = Files.newBufferedReader(file)) {
        String line;
        while ((line = reader.readLine()) != null) {
          rows.add(row(json.readTree(line)));
        }
      } catch (com.fasterxml.jackson.core.JacksonException e) {
        throw new InputException(
            "The training log " + file + " is damaged: " + e.getOriginalMessage() + ".", e);
      }
    }
    rows.sort(Comparator.comparingLong(Row::step));
    return rows;
  }

  /** Deletes what killed processes left of unfinished files; the run must be complete. */
  static void clean(Path directory) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      for (Path file : list.filter(TrainingLog::isUnfinished).toList()) {
        Files.delete(file);
      }
    }
  }

  private static boolean isUnfinished(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith("." + PREFIX) && name.contains(".inprogress.");
  }

  private static boolean isLog(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith(PREFIX) && name.endsWith(SUFFIX);
  }

  private static Row row(JsonNode row) {
    List<Long> jobs = new ArrayList<>();
    row.path("jobs").forEach(job -> jobs.add(job.asLong()));
    return new Row(
        row.path("step").asLong(),
        number(row, "loss"),
        number(row, "joint_prefix"),
        row.path("tokens").asLong(),
        jobs,
        row.path("dead_jobs").size(),
        row.path("skipped").asBoolean(),
        row.path("seconds").asDouble(),
        row.path("forward").asDouble()
            + row.path("backward").asDouble()
            + row.path("optimizer").asDouble());
  }

  private static double number(JsonNode row, String name) {
    JsonNode value = row.path(name);
    return value.isNumber() ? value.asDouble() : Double.NaN;
  }
}
