package org.draftmill.operators.drafter;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code log/live.csv} of the run directory: a line a step, at once, for plotting. It may repeat
 * steps after a restart. Nothing depends on it, so trouble with it is a warning, given once.
 */
final class LiveLog {
  private static final Logger LOG = LoggerFactory.getLogger(LiveLog.class);

  private final Path file;
  private boolean warned;

  LiveLog(Path run) {
    file = run.resolve("log").resolve("live.csv");
  }

  void append(StepRow row) {
    try {
      Files.createDirectories(file.getParent());
      String line = row.toCsv() + "\n";
      if (!Files.exists(file)) {
        line = StepRow.CSV_HEADER + "\n" + line;
      }
      Files.writeString(
          file, line, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      if (!warned) {
        LOG.warn("Cannot append to {}: {}. Training goes on without it.", file, e.getMessage());
        warned = true;
      }
    }
  }
}
