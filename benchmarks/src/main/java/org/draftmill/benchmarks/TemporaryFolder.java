package org.draftmill.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder that goes with all that is in it. */
record TemporaryFolder(Path path) implements AutoCloseable {

  static TemporaryFolder create() throws IOException {
    return new TemporaryFolder(Files.createTempDirectory("draftmill-benchmark"));
  }

  @Override
  public void close() throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      files.sorted(Comparator.reverseOrder()).forEach(TemporaryFolder::delete);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
