package org.draftmill.job.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.draftmill.job.cluster.ClusterRest;
import org.draftmill.job.train.ResolvedRun;

/** Looks at a run on separate processes: at its files, and at what Flink says. */
final class ProcessRun {
  private final ClusterRest rest;
  private final String job;
  private final ResolvedRun run;
  private final Path live;

  ProcessRun(ClusterRest rest, String job, ResolvedRun run) {
    this.rest = rest;
    this.job = job;
    this.run = run;
    live = run.directory().liveLog();
  }

  boolean isAt(ProcessStrike.Moment moment) {
    return switch (moment) {
      case STARTING -> rows() <= 1;
      case TRAINING -> true;
      case CHECKPOINT_IN_PROGRESS ->
          find(
              run.directory().checkpoints(),
              path -> path.getFileName().toString().startsWith("chk-") && !isComplete(path));
      case WRITING_STATE ->
          find(
              run.directory().drafter(),
              path -> path.getFileName().toString().startsWith(".checkpoint-"));
      case DRAINING -> isDraining();
      case LAST_STEPS -> step() >= 0.98 * run.steps() - 1;
    };
  }

  private static boolean isComplete(Path checkpoint) {
    return Files.exists(checkpoint.resolve("_metadata"));
  }

  private boolean isDraining() {
    try {
      boolean sourcesEnded = false;
      boolean draftersRun = false;
      for (JsonNode vertex : rest.get("/jobs/" + job).path("vertices")) {
        String name = vertex.path("name").asText();
        String status = vertex.path("status").asText();
        sourcesEnded |= name.contains("jobs") && status.equals("FINISHED");
        draftersRun |= name.contains("drafter") && status.equals("RUNNING");
      }
      return sourcesEnded && draftersRun;
    } catch (IOException e) {
      return false; // nobody answers just now
    }
  }

  /** Whether all is trained and Flink has no such job that still runs. */
  boolean isOver() {
    try {
      String status = rest.status(job);
      if (status.equals("FAILED") || status.equals("CANCELED")) {
        throw new AssertionError("The job is " + status + ": " + rest.exception(job));
      }
      return status.equals("FINISHED");
    } catch (IOException e) {
      return false;
    }
  }

  double progress() {
    return (step() + 1.0) / run.steps();
  }

  /** The last step that is trained, as far as the live log says; it is written at once. */
  long step() {
    List<String> lines = lines();
    for (int i = lines.size() - 1; i > 0; i--) {
      int comma = lines.get(i).indexOf(',');
      if (comma > 0) {
        return Long.parseLong(lines.get(i).substring(0, comma));
      }
    }
    return -1;
  }

  /** Lines of the live log, repetitions after restarts included. */
  int rows() {
    return lines().size();
  }

  private List<String> lines() {
    try {
      return Files.readAllLines(live);
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean find(Path directory, Predicate<Path> wanted) {
    try (Stream<Path> paths = Files.walk(directory, 2)) {
      return paths.anyMatch(wanted);
    } catch (NoSuchFileException | UncheckedIOException e) {
      return false; // it came and went
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
