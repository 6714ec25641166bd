package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.compute.io.Folders;

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
  private final Set<String> written = new HashSet<>(); // by this attempt

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

  /**
   * Publishes the drafter of a step, unless these exports hold it already, and makes it the latest.
   * One of an earlier attempt is replaced: what follows a restore need not repeat it to the bit.
   */
  public synchronized Path publish(long step, Content content) throws IOException {
    Files.createDirectories(directory);
    String name = StateFiles.stepName(step);
    Path export = directory.resolve(name);
    if (!written.contains(name) || !Files.isDirectory(export)) {
      try {
        put(export, content);
      } catch (IOException e) {
        throw new IOException("Could not export " + export + ": " + e.getMessage(), e);
      }
      written.add(name);
    }
    link(name);
    prune(name);
    return export;
  }

  private void put(Path export, Content content) throws IOException {
    Path complete = write(content);
    try {
      if (Files.isDirectory(export)) {
        makeRoom(export, content);
      }
      Files.move(complete, export, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Folders.delete(complete);
    }
  }

  private Path write(Content content) throws IOException {
    Path complete = temporary();
    try {
      content.write(complete);
      AtomicFile.forceFolder(complete);
      return complete;
    } catch (IOException | RuntimeException e) {
      Folders.delete(complete);
      throw e;
    }
  }

  /**
   * Removes an export that will be replaced. No move does that at one stroke, so the link leads to
   * a second copy of the new one meanwhile.
   */
  private void makeRoom(Path export, Content content) throws IOException {
    link(write(content).getFileName().toString());
    remove(export);
  }

  /** Removes what an attempt that died has left half-written. */
  public void clean() throws IOException {
    String latest = latest();
    for (Path path : list()) {
      String name = path.getFileName().toString();
      if (isTemporary(name) && !name.equals(latest)) {
        Folders.delete(path);
      }
    }
  }

  private void link(String name) throws IOException {
    String former = latest();
    Path temporary = temporary();
    Files.createSymbolicLink(temporary, Path.of(name));
    Files.move(
        temporary,
        directory.resolve(LATEST),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    AtomicFile.forceFolder(directory);
    if (isTemporary(former) && !former.equals(name)) {
      Folders.delete(directory.resolve(former));
    }
  }

  /** Name of what the link leads to; empty without one. */
  private String latest() throws IOException {
    Path link = directory.resolve(LATEST);
    return Files.isSymbolicLink(link) ? Files.readSymbolicLink(link).toString() : "";
  }

  private Path temporary() {
    return directory.resolve(TEMPORARY + UUID.randomUUID());
  }

  private static boolean isTemporary(String name) {
    return name.contains(TEMPORARY);
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
      remove(old);
    }
  }

  /** At one stroke for whoever looks on. */
  private void remove(Path export) throws IOException {
    Path temporary = temporary();
    Files.move(export, temporary, StandardCopyOption.ATOMIC_MOVE);
    Folders.delete(temporary);
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
}
