package org.draftmill.job.balance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Locale;

/**
 * {@code log/targets.csv}: now and then what all targets together have done since they started. The
 * training log is written by drafters and knows nothing of it. A restart begins at zero again.
 */
public final class TargetLog {
  static final String HEADER = "unix_seconds,tokens,busy_seconds";

  private final Path file;

  public TargetLog(Path file) {
    this.file = file;
  }

  /**
   * @param tokens extracted since the start
   * @param busySeconds of all targets since the start
   */
  public record Row(double unixSeconds, double tokens, double busySeconds) {}

  /** What was done between the first row and the last. */
  public record Total(double tokens, double busySeconds, double elapsedSeconds) {}

  /** Begins, or goes on in another process: the targets count from zero. */
  public void start(double unixSeconds) throws IOException {
    Files.createDirectories(file.getParent());
    write(HEADER);
    append(new Row(unixSeconds, 0, 0));
  }

  public void append(Row row) throws IOException {
    write(
        String.format(
            Locale.ROOT, "%.3f,%.0f,%.3f", row.unixSeconds(), row.tokens(), row.busySeconds()));
  }

  private void write(String line) throws IOException {
    Files.writeString(
        file,
        line + "\n",
        StandardCharsets.US_ASCII,
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /**
   * All that the file tells; zeros if there is none. A line cut short by a crash is passed over.
   */
  public Total total() throws IOException {
    double tokens = 0;
    double busy = 0;
    double elapsed = 0;
    Row last = null;
    for (String line : lines()) {
      if (line.equals(HEADER)) {
        last = null;
        continue;
      }
      Row row = parse(line);
      if (row == null) {
        continue;
      }
      if (last != null
          && row.tokens() >= last.tokens()
          && row.busySeconds() >= last.busySeconds()) {
        tokens += row.tokens() - last.tokens();
        busy += row.busySeconds() - last.busySeconds();
        elapsed += row.unixSeconds() - last.unixSeconds();
      }
      last = row;
    }
    return new Total(tokens, busy, elapsed);
  }

  private List<String> lines() throws IOException {
    // Each byte is a character, so that no damage is more than a line that makes no sense.
    return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.ISO_8859_1) : List.of();
  }

  private static Row parse(String line) {
    String[] cells = line.split(",", -1);
    try {
      return cells.length == 3
          ? new Row(
              Double.parseDouble(cells[0]),
              Double.parseDouble(cells[1]),
              Double.parseDouble(cells[2]))
          : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
