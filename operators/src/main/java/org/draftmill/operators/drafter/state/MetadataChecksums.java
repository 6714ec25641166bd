package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
 * <p>and a line for each savepoint, wherever it was asked for, by the name of its folder alone:
 * Flink gives no name twice, and a savepoint may be moved. A state without a line is one whose
 * process ended before the line was written, or one that does not lie on a file system of this
 * host: nothing is known of it.
 */
public final class MetadataChecksums {
  private static final String FILE = "checksums";
  private static final String METADATA = "_metadata";
  private static final String SAVEPOINT = "savepoint-";

  private final Path checkpoints;

  /**
   * @param checkpoints of a run directory
   */
  public MetadataChecksums(Path checkpoints) {
    this.checkpoints = checkpoints;
  }

  /** Remembers that of a state, and forgets those that are gone. One that is gone is no matter. */
  public synchronized void record(Path state) throws IOException {
    Map<String, Long> lines = read();
    lines
        .keySet()
        .removeIf(
            name ->
                !name.startsWith(SAVEPOINT)
                    && !Files.exists(checkpoints.resolve(name).resolve(METADATA)));
    try {
      lines.put(name(state), AtomicFile.crc32c(state.resolve(METADATA)));
    } catch (NoSuchFileException e) {
      return; // it lies elsewhere, or newer ones have replaced it already
    }
    String content =
        lines.entrySet().stream()
            .map(line -> String.format(Locale.ROOT, "%08x %s%n", line.getValue(), line.getKey()))
            .collect(Collectors.joining());
    AtomicFile.write(checkpoints.resolve(FILE), content.getBytes(StandardCharsets.UTF_8));
  }

  /** The checksum that a state had when it was complete, if it is known. */
  public OptionalLong of(Path state) throws IOException {
    Long known = read().get(name(state));
    return known == null ? OptionalLong.empty() : OptionalLong.of(known);
  }

  /** Whether a state has still the metadata that it was completed with, as far as that is known. */
  public boolean matches(Path state) throws IOException {
    OptionalLong known = of(state);
    return known.isEmpty() || known.getAsLong() == AtomicFile.crc32c(state.resolve(METADATA));
  }

  private String name(Path state) {
    String last = state.getFileName().toString();
    if (last.startsWith(SAVEPOINT)) {
      return last;
    }
    return checkpoints
        .toAbsolutePath()
        .normalize()
        .relativize(state.toAbsolutePath().normalize())
        .toString()
        .replace('\\', '/');
  }

  /** By name; a line that makes no sense tells nothing. */
  private Map<String, Long> read() throws IOException {
    Map<String, Long> lines = new LinkedHashMap<>();
    Path file = checkpoints.resolve(FILE);
    if (!Files.exists(file)) {
      return lines;
    }
    String content = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    for (String line : content.lines().toList()) {
      if (line.matches("[0-9a-f]{8} .+")) {
        lines.put(line.substring(9), Long.parseLong(line.substring(0, 8), 16));
      }
    }
    return lines;
  }
}
