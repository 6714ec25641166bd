package org.draftmill.job.train;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.AtomicFile;

/** Reads {@code log/training-*.jsonl}: one row a step, each step once, in files of any order. */
public final class TrainingLog {
  /** How names of finished files begin and end. */
  public static final String PREFIX = "training";

  public static final String SUFFIX = ".jsonl";

  private static final String REPLACED = "replaced";

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
    ObjectMapper json = new ObjectMapper();
    for (Path file : files(directory)) {
      int number = 1;
      try (BufferedReader reader = Files.newBufferedReader(file)) {
        for (String line; (line = reader.readLine()) != null; number++) {
          JsonNode row = json.readTree(line);
          if (!row.path("step").isIntegralNumber()) {
            throw damaged(file, number, null);
          }
          rows.add(row(row));
        }
      } catch (JacksonException | CharacterCodingException e) {
        throw damaged(file, number, e);
      }
    }
    rows.sort(Comparator.comparingLong(Row::step));
    return rows;
  }

  /**
   * Takes back the rows of a step and all after it, which will be trained again. They are kept in
   * {@code log/replaced/}, those of a file that is put right again as {@code NAME.2} and so on. The
   * log is put right file by file, so if this is cut short, the same again finishes it.
   */
  static void rollBack(Path directory, long step) throws IOException {
    Path replaced = directory.resolve(REPLACED);
    ObjectMapper json = new ObjectMapper();
    for (Path file : files(directory)) {
      List<String> lines = Files.readAllLines(file);
      List<String> stay = new ArrayList<>();
      for (String line : lines) {
        if (json.readTree(line).path("step").asLong() < step) {
          stay.add(line);
        }
      }
      if (stay.size() == lines.size()) {
        continue;
      }
      Files.createDirectories(replaced);
      Files.copy(file, vacant(replaced, file.getFileName().toString()));
      if (stay.isEmpty()) {
        Files.delete(file);
      } else {
        byte[] rest = (String.join("\n", stay) + "\n").getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(file, rest);
      }
    }
  }

  /** NAME, or the first of {@code NAME.2, NAME.3, …} that is not there yet. */
  private static Path vacant(Path directory, String name) {
    Path candidate = directory.resolve(name);
    for (int number = 2; Files.exists(candidate); number++) {
      candidate = directory.resolve(name + "." + number);
    }
    return candidate;
  }

  /** Whether there are files of lines that no checkpoint has completed, or not yet. */
  static boolean hasUnfinished(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return false;
    }
    try (Stream<Path> list = Files.list(directory)) {
      return list.anyMatch(TrainingLog::isUnfinished);
    }
  }

  /**
   * Deletes what killed processes left of unfinished files, of the log or of dead letters; the run
   * must be complete.
   */
  static void clean(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (Stream<Path> list = Files.list(directory)) {
      for (Path file : list.filter(TrainingLog::isUnfinished).toList()) {
        Files.delete(file);
      }
    }
  }

  private static InputException damaged(Path file, int line, Exception cause) {
    return new InputException(
        "The training log %s is damaged in line %d: that is no row of a step. Put the file back from a copy, or start anew with --fresh or another run.dir."
            .formatted(file, line),
        cause);
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> list = Files.list(directory)) {
      return list.filter(TrainingLog::isLog).sorted().toList();
    }
  }

  private static boolean isUnfinished(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith(".") && name.contains(SUFFIX + ".inprogress.");
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
