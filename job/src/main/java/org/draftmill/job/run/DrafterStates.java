package org.draftmill.job.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;

/**
 * Finds the state files of all drafters at one checkpoint: {@code
 * drafter/step-NNNNNNNN/KIND-NUMBER.GROUP.RANK-of-SIZE.safetensors}.
 */
public final class DrafterStates {
  private static final Pattern FILE =
      Pattern.compile(
          "((?:checkpoint|savepoint)-(\\d+)\\.[0-9a-f]+)\\.(\\d+)-of-(\\d+)\\.safetensors");

  private DrafterStates() {}

  /**
   * The files of the newest checkpoint that is complete.
   *
   * @param directory of a run, its {@code drafter/}, or one step below that
   * @throws InputException if there is none
   */
  public static List<Path> newest(Path directory) throws IOException {
    for (Path step : steps(directory)) {
      List<Path> files = complete(step);
      if (!files.isEmpty()) {
        return files;
      }
    }
    throw new InputException(
        directory
            + " holds no complete state of a drafter (drafter/step-NNNNNNNN/*.safetensors); give a"
            + " run directory or one of its steps.");
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
          list.filter(path -> path.getFileName().toString().startsWith("step-"))
              .sorted(Comparator.reverseOrder())
              .toList();
      return steps.isEmpty() ? List.of(root) : steps;
    }
  }

  private static List<Path> complete(Path step) throws IOException {
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
        .findFirst()
        .orElse(List.of());
  }
}
