package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.draftmill.compute.io.AtomicFile;

/**
 * Checksums of Flink's {@code _metadata} files, which have none of their own though all small
 * states lie in them: {@code checkpoints/checksums} of the run directory holds a line for each
 * state that is still there,
 *
 * <pre>
 * CRC-32C of _metadata, eight hexadecimal digits | space | path of the state below checkpoints/
 * </pre>
 *
 * <p>and a line for each savepoint, wherever it was asked for, by the name of its folder, which
 * Flink gives only once: it may be moved. Behind the name stands where it was made,
 *
 * <pre>
 * CRC-32C of _metadata | space | name | tab | folder that it lies in, from checkpoints/ on
 * </pre>
 *
 * <p>and it is forgotten when it is gone from there, as far as that can be told: a folder that is
 * not there or empty may be one that is not mounted just now. A state without a line is one whose
 * process ended before the line was written, or one that does not lie on a file system of this
 * host: nothing is known of it.
 */
public final class MetadataChecksums {
  private static final String FILE = "checksums";
  private static final String METADATA = "_metadata";
  private static final String SAVEPOINT = "savepoint-";

  private final Path checkpoints;

  /**
   * @param place folder of a savepoint, from {@code checkpoints/} on; null of a checkpoint, and
   *     where it is not known
   */
  private record Line(long crc32c, String name, String place) {
    /** Null if it makes no sense. */
    static Line parse(String line) {
      if (!line.matches("[0-9a-f]{8} .+")) {
        return null;
      }
      int tab = line.indexOf('\t');
      return new Line(
          Long.parseLong(line.substring(0, 8), 16),
          line.substring(9, tab < 0 ? line.length() : tab),
          tab < 0 ? null : line.substring(tab + 1));
    }

    @Override
    public String toString() {
      String plain = String.format(Locale.ROOT, "%08x %s", crc32c, name);
      return place == null ? plain : plain + "\t" + place;
    }
  }

  /**
   * @param checkpoints of a run directory
   */
  public MetadataChecksums(Path checkpoints) {
    this.checkpoints = checkpoints.toAbsolutePath().normalize();
  }

  /** Remembers that of a state, and forgets those that are gone. One that is gone is no matter. */
  public synchronized void record(Path state) throws IOException {
    Map<String, Line> lines = read();
    lines.values().removeIf(this::isGone);
    String name = name(state);
    try {
      long crc = AtomicFile.crc32c(state.resolve(METADATA));
      lines.put(name, new Line(crc, name, isSavepoint(name) ? place(state) : null));
    } catch (NoSuchFileException e) {
      return; // it lies elsewhere, or newer ones have replaced it already
    }
    String content =
        lines.values().stream()
            .map(line -> line + System.lineSeparator())
            .collect(Collectors.joining());
    AtomicFile.write(checkpoints.resolve(FILE), content.getBytes(StandardCharsets.UTF_8));
  }

  private boolean isGone(Line line) {
    Path here = checkpoints.resolve(line.name());
    if (!isSavepoint(line.name())) {
      return !Files.exists(here.resolve(METADATA));
    }
    if (line.place() == null || !Files.notExists(here)) {
      return false;
    }
    Path place = checkpoints.resolve(line.place());
    return Files.notExists(place.resolve(line.name())) && holdsAnything(place);
  }

  private static boolean holdsAnything(Path folder) {
    try (DirectoryStream<Path> content = Files.newDirectoryStream(folder)) {
      return content.iterator().hasNext();
    } catch (IOException | DirectoryIteratorException e) {
      return false; // nobody can tell
    }
  }

  /** The checksum that a state had when it was complete, if it is known. */
  public OptionalLong of(Path state) throws IOException {
    Line known = read().get(name(state));
    return known == null ? OptionalLong.empty() : OptionalLong.of(known.crc32c());
  }

  /** Whether a state has still the metadata that it was completed with, as far as that is known. */
  public boolean matches(Path state) throws IOException {
    OptionalLong known = of(state);
    return known.isEmpty() || known.getAsLong() == AtomicFile.crc32c(state.resolve(METADATA));
  }

  private String name(Path state) {
    String last = state.getFileName().toString();
    return isSavepoint(last) ? last : below(state);
  }

  private static boolean isSavepoint(String name) {
    return name.startsWith(SAVEPOINT);
  }

  /** The folder of a savepoint; those in {@code checkpoints/} move with the run. */
  private String place(Path savepoint) {
    Path folder = savepoint.toAbsolutePath().normalize().getParent();
    return folder.equals(checkpoints) ? "." : folder.toString();
  }

  private String below(Path state) {
    return checkpoints.relativize(state.toAbsolutePath().normalize()).toString().replace('\\', '/');
  }

  /** By name; a line that makes no sense tells nothing. */
  private Map<String, Line> read() throws IOException {
    Map<String, Line> lines = new LinkedHashMap<>();
    Path file = checkpoints.resolve(FILE);
    if (!Files.exists(file)) {
      return lines;
    }
    String content = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    for (String text : content.lines().toList()) {
      Line line = Line.parse(text);
      if (line != null) {
        lines.put(line.name(), line);
      }
    }
    return lines;
  }
}
