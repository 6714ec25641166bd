package org.draftmill.job.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;

/**
 * Where the parts of a run lie:
 *
 * <pre>
 * run.yaml  plan/  checkpoints/  drafter/step-NNNNNNNN/  export/step-NNNNNNNN/  export/latest
 * log/training-*.jsonl  log/live.csv  log/targets.csv  log/draftmill.log  dead-letter/*.jsonl  summary.json
 * </pre>
 */
public record RunDirectory(Path root) {
  public RunDirectory {
    root = root.toAbsolutePath().normalize();
  }

  /** The directory itself, created with its parents when it is absent. */
  public static RunDirectory create(Path root) {
    RunDirectory directory = new RunDirectory(root);
    try {
      Files.createDirectories(directory.root);
      Files.createDirectories(directory.log());
    } catch (FileAlreadyExistsException e) {
      throw new InputException(
          "run.dir is " + root + ", but " + e.getFile() + " is a file; choose another directory.",
          e);
    } catch (AccessDeniedException e) {
      throw new InputException(
          "run.dir is " + root + ", which cannot be written to; choose another directory.", e);
    } catch (IOException e) {
      throw new InputException(
          "run.dir is " + root + ", which cannot be made: " + e.getMessage() + ".", e);
    }
    return directory;
  }

  /**
   * {@code root} if nothing is there yet, else the first of {@code root-2, root-3, …} of which that
   * is true.
   */
  public static Path fresh(Path root) {
    Path candidate = root;
    for (int number = 2; !isVacant(candidate); number++) {
      candidate = root.resolveSibling(root.getFileName() + "-" + number);
    }
    return candidate;
  }

  private static boolean isVacant(Path path) {
    if (!Files.exists(path)) {
      return true;
    }
    if (!Files.isDirectory(path)) {
      return false;
    }
    try (Stream<Path> content = Files.list(path)) {
      return content.findAny().isEmpty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As Flink shows the job of the run. */
  public String jobName() {
    return "draftmill " + root.getFileName();
  }

  public Path runFile() {
    return root.resolve("run.yaml");
  }

  public Path plan() {
    return root.resolve("plan");
  }

  public Path checkpoints() {
    return root.resolve("checkpoints");
  }

  public Path drafter() {
    return root.resolve("drafter");
  }

  public Path log() {
    return root.resolve("log");
  }

  public Path liveLog() {
    return log().resolve("live.csv");
  }

  /** What all targets have done, now and then. */
  public Path targetLog() {
    return log().resolve("targets.csv");
  }

  public Path processLog() {
    return log().resolve("draftmill.log");
  }

  public Path deadLetters() {
    return root.resolve("dead-letter");
  }

  public Path export() {
    return root.resolve("export");
  }

  public Path latestExport() {
    return export().resolve("latest");
  }

  public Path summary() {
    return root.resolve("summary.json");
  }
}
