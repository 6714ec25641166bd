package org.draftmill.job.run;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;
import org.draftmill.operators.drafter.state.StateFiles;

/**
 * Finds the state files of all drafters at one checkpoint: {@code
 * drafter/step-NNNNNNNN/KIND-NUMBER.GROUP.RANK-of-SIZE.safetensors}.
 */
public final class DrafterStates {
  private static final Pattern FILE =
      Pattern.compile(
          "((?:checkpoint|savepoint)-(\\d+)\\.[0-9a-f]+)\\.(\\d+)-of-(\\d+)\\.safetensors");

  private static final String STEP = "step-";

  private DrafterStates() {}

  /**
   * The files of the newest checkpoint that is complete.
   *
   * @param directory of a run, its {@code drafter/}, or one step below that
   * @throws InputException if there is none
   */
  public static List<Path> newest(Path directory) throws IOException {
    for (Path step : steps(directory)) {
      List<List<Path>> complete = complete(step);
      if (!complete.isEmpty()) {
        return complete.get(0);
      }
    }
    throw new InputException(
        directory
            + " holds no complete state of a drafter (drafter/step-NNNNNNNN/*.safetensors); give a"
            + " run directory or one of its steps.");
  }

  /**
   * Deletes what drafters wrote for checkpoints before the last one that all of them wrote: of a
   * run that is complete Flink has none any more, and the last states are what its weights can be
   * exported from again. Files of savepoints, and of what was set aside, stay.
   */
  public static void keepLast(RunDirectory run) throws IOException {
    for (Path step : Files.isDirectory(run.drafter()) ? steps(run.root()) : List.<Path>of()) {
      for (List<Path> files : complete(step)) {
        Matcher name = FILE.matcher(files.get(0).getFileName().toString());
        if (name.matches() && name.group(1).startsWith("checkpoint-")) {
          new StateFiles(run.root()).deleteBefore(Long.parseLong(name.group(2)));
          return;
        }
      }
    }
  }

  /**
   * The step that was open at a checkpoint or savepoint; the last one if the number was given
   * twice, as after a checkpoint that a kill cut short. Empty if no drafter was left at it.
   */
  public static OptionalLong openStep(RunDirectory run, SavedState state) throws IOException {
    OptionalLong open = OptionalLong.empty();
    for (Path file : files(run, state.isSavepoint() ? "savepoint" : "checkpoint", state.id())) {
      String step = file.getParent().getFileName().toString();
      long number = Long.parseLong(step.substring(STEP.length()));
      open = OptionalLong.of(Math.max(open.orElse(0), number));
    }
    return open;
  }

  /**
   * The files of a savepoint, below the run, as far as its number tells: none if there are several
   * of this number.
   */
  static List<String> ofOnlySavepoint(RunDirectory run, long id) throws IOException {
    List<String> names = new ArrayList<>();
    Set<String> snapshots = new HashSet<>();
    for (Path file : files(run, "savepoint", id)) {
      Matcher name = FILE.matcher(file.getFileName().toString());
      if (name.matches()) {
        snapshots.add(name.group(1));
        names.add(run.root().relativize(file).toString());
      }
    }
    return snapshots.size() == 1 ? names : List.of();
  }

  /**
   * Deletes a file, and its directory if that is empty then.
   *
   * @param name below the run
   */
  static void delete(RunDirectory run, String name) throws IOException {
    Path file = run.root().resolve(name).normalize();
    if (!file.startsWith(run.drafter()) || !FILE.matcher(file.getFileName().toString()).matches()) {
      return; // no drafter wrote that name
    }
    Files.deleteIfExists(file);
    try {
      Files.deleteIfExists(file.getParent());
    } catch (DirectoryNotEmptyException e) {
      // Other states were written at this step.
    }
  }

  private static List<Path> files(RunDirectory run, String kind, long id) throws IOException {
    String prefix = kind + "-" + id + ".";
    List<Path> found = new ArrayList<>();
    for (Path step : Files.isDirectory(run.drafter()) ? steps(run.root()) : List.<Path>of()) {
      try (Stream<Path> files = Files.list(step)) {
        files
            .filter(file -> file.getFileName().toString().startsWith(prefix))
            .filter(file -> FILE.matcher(file.getFileName().toString()).matches())
            .forEach(found::add);
      }
    }
    return found;
  }

  /** The last step first. */
  private static List<Path> steps(Path directory) throws IOException {
    Path nested = directory.resolve("drafter");
    Path root = Files.isDirectory(nested) ? nested : directory;
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> list = Files.list(root)) {
      List<Path> steps =
          list.filter(path -> path.getFileName().toString().startsWith(STEP))
              .sorted(Comparator.reverseOrder())
              .toList();
      return steps.isEmpty() ? List.of(root) : steps;
    }
  }

  /** What all drafters of a group have written, the newest first. */
  private static List<List<Path>> complete(Path step) throws IOException {
    // By checkpoint number, then name: the last is the newest.
    Map<Long, Map<String, List<Path>>> found = new TreeMap<>(Comparator.reverseOrder());
    Map<String, Integer> sizes = new TreeMap<>();
    try (Stream<Path> files = Files.list(step)) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        Matcher name = FILE.matcher(file.getFileName().toString());
        if (name.matches()) {
          found
              .computeIfAbsent(Long.parseLong(name.group(2)), number -> new TreeMap<>())
              .computeIfAbsent(name.group(1), snapshot -> new ArrayList<>())
              .add(file);
          sizes.put(name.group(1), Integer.parseInt(name.group(4)));
        }
      }
    }
    return found.values().stream()
        .flatMap(snapshots -> snapshots.entrySet().stream())
        .filter(snapshot -> snapshot.getValue().size() == sizes.get(snapshot.getKey()))
        .map(Map.Entry::getValue)
        .toList();
  }
}
