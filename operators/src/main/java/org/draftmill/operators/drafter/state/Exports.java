package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.draftmill.compute.io.AtomicFile;

/**
 * The drafters that a serving engine can load, below {@code export/} of the run directory: {@code
 * export/step-NNNNNNNN/}, and {@code export/latest}, a relative link to the newest. A directory
 * appears whole or not at all, and the link always leads to one.
 */
public final class Exports {
  private static final String LATEST = "latest";
  private static final Pattern STEP = Pattern.compile("step-\\d{8,}");
  private static final String TEMPORARY = ".tmp-";

  private final Path directory;
  private final int keep;

  /**
   * @param keep how many exports stay besides the latest one
   */
  public Exports(Path run, int keep) {
    this.directory = run.resolve("export");
    this.keep = keep;
  }

  /** Makes a directory and puts a drafter in. */
  public interface Content {
    void write(Path directory) throws IOException;
  }

  /** Publishes the drafter of a step, unless it is there, and makes it the latest. */
  public synchronized Path publish(long step, Content content) throws IOException {
    Files.createDirectories(directory);
    String name = StateFiles.stepName(step);
    Path export = directory.resolve(name);
    if (!Files.isDirectory(export)) {
      Path temporary = directory.resolve(TEMPORARY + UUID.randomUUID());
      try {
        content.write(temporary);
        AtomicFile.forceFolder(temporary);
        Files.move(temporary, export, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        deleteAll(temporary);
        throw new IOException("Could not export " + export + ": " + e.getMessage(), e);
      }
    }
    link(name);
    prune(name);
    return export;
  }

  /** Removes what an attempt that died has left half-written. */
  public void clean() throws IOException {
    for (Path path : list()) {
      if (path.getFileName().toString().contains(TEMPORARY)) {
        deleteAll(path);
      }
    }
  }

  private void link(String name) throws IOException {
    Path temporary = directory.resolve(TEMPORARY + UUID.randomUUID());
    Files.createSymbolicLink(temporary, Path.of(name));
    Files.move(
        temporary,
        directory.resolve(LATEST),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    AtomicFile.forceFolder(directory);
  }

  private void prune(String latest) throws IOException {
    List<Path> others = new ArrayList<>();
    for (Path path : list()) {
      String name = path.getFileName().toString();
      if (STEP.matcher(name).matches() && !name.equals(latest)) {
        others.add(path);
      }
    }
    others.sort(Comparator.comparing(Path::getFileName));
    for (Path old : others.subList(0, Math.max(0, others.size() - keep))) {
      Path temporary = directory.resolve(TEMPORARY + UUID.randomUUID());
      Files.move(old, temporary, StandardCopyOption.ATOMIC_MOVE);
      deleteAll(temporary);
    }
  }

  private List<Path> list() throws IOException {
    List<Path> paths = new ArrayList<>();
    if (Files.isDirectory(directory)) {
      try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
        stream.forEach(paths::add);
      }
    }
    return paths;
  }

  private static void deleteAll(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    List<Path> inside;
    try (Stream<Path> walk = Files.walk(path)) {
      inside = walk.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path each : inside) {
      Files.deleteIfExists(each);
    }
  }
}
