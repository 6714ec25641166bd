package org.draftmill.job.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.compute.io.Folders;

/**
 * What is left of the savepoint at which a run was to stop, when that was cut short: a folder
 * without {@code _metadata}, of no use to anybody. Only that very folder may go: the job's number
 * begins its name, and {@code checkpoints/stopping} tells, from before the savepoint is asked for
 * until its end,
 *
 * <pre>
 * how the names of the job's savepoints begin
 * those that have such a name already, a line each
 * </pre>
 */
public final class UnfinishedSavepoint {
  private static final String FILE = "stopping";

  /** So many of its digits Flink puts into the names of a job's savepoints. */
  private static final int DIGITS_OF_JOB = 6;

  /** In front of the name of one that is being deleted. */
  private static final String HIDDEN = ".";

  private UnfinishedSavepoint() {}

  /**
   * Remembers that a savepoint of the run's own begins.
   *
   * @param job its number in hexadecimal
   */
  public static void begin(RunDirectory run, String job) throws IOException {
    String prefix = "savepoint-" + job.substring(0, DIGITS_OF_JOB) + "-";
    List<String> lines = new ArrayList<>(List.of(prefix));
    lines.addAll(names(run, prefix));
    Files.createDirectories(run.checkpoints());
    AtomicFile.write(
        run.checkpoints().resolve(FILE),
        (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Deletes what it left if it is not complete. One that is just becoming complete fails then. */
  public static void discard(RunDirectory run) throws IOException {
    List<String> lines = lines(run);
    if (lines.isEmpty() || lines.get(0).isBlank()) {
      return;
    }
    String prefix = lines.get(0);
    List<String> before = lines.subList(1, lines.size());
    for (String name : names(run, prefix)) {
      Path savepoint = run.checkpoints().resolve(name);
      if (!before.contains(name) && !SavedState.isThere(savepoint)) {
        Files.move(savepoint, run.checkpoints().resolve(HIDDEN + name));
      }
    }
    for (String name : names(run, HIDDEN + prefix)) {
      Path hidden = run.checkpoints().resolve(name);
      if (SavedState.isThere(hidden)) {
        Files.move(hidden, run.checkpoints().resolve(name.substring(HIDDEN.length())));
      } else {
        Folders.delete(hidden);
      }
    }
  }

  /** The same when nothing works on it any more, complete or not. */
  public static void end(RunDirectory run) throws IOException {
    discard(run);
    Files.deleteIfExists(run.checkpoints().resolve(FILE));
  }

  private static List<String> lines(RunDirectory run) throws IOException {
    try {
      byte[] content = Files.readAllBytes(run.checkpoints().resolve(FILE));
      return new String(content, StandardCharsets.UTF_8).lines().toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  private static List<String> names(RunDirectory run, String prefix) throws IOException {
    if (!Files.isDirectory(run.checkpoints())) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(run.checkpoints())) {
      return children
          .filter(child -> Files.isDirectory(child) && !Files.isSymbolicLink(child))
          .map(child -> child.getFileName().toString())
          .filter(name -> name.startsWith(prefix))
          .toList();
    }
  }
}
