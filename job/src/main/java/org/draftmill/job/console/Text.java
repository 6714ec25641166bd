package org.draftmill.job.console;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Numbers and tables as people read them. */
public final class Text {
  private static final String[] BYTES = {"B", "KB", "MB", "GB", "TB", "PB"};
  private static final String[] COUNTS = {"", "K", "M", "G", "T"};

  private Text() {}

  /** {@code 1,234,567}. */
  public static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  /** {@code 1 epoch}, {@code 1,234 epochs}. */
  public static String count(long value, String noun) {
    return count(value) + " " + noun + (value == 1 ? "" : "s");
  }

  /** {@code 1.2M}; whole below a thousand. */
  public static String shortCount(double value) {
    return scaled(value, 1000, COUNTS, "");
  }

  /** {@code 1.2 GB}, by powers of 1024. */
  public static String bytes(long value) {
    return scaled(value, 1024, BYTES, " ");
  }

  private static String scaled(double value, int base, String[] units, String space) {
    int unit = 0;
    double scaled = value;
    while (scaled >= base && unit < units.length - 1) {
      scaled /= base;
      unit++;
    }
    return String.format(Locale.ROOT, unit == 0 || scaled >= 100 ? "%.0f" : "%.1f", scaled)
        + space
        + units[unit];
  }

  /** {@code 45 s}, {@code 3:07}, {@code 2:03:07}. */
  public static String duration(Duration duration) {
    long seconds = Math.max(0, Math.round(duration.toMillis() / 1000.0));
    if (seconds < 60) {
      return seconds + " s";
    }
    return seconds < 3600
        ? String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60)
        : String.format(
            Locale.ROOT, "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }

  /** {@code 37 %}. */
  public static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }

  /**
   * Rows as aligned lines, two blanks in. The first column is set left, all others right.
   *
   * @param rows equally long
   */
  public static List<String> table(List<List<String>> rows) {
    int columns = rows.stream().mapToInt(List::size).max().orElse(0);
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int c = 0; c < row.size(); c++) {
        widths[c] = Math.max(widths[c], row.get(c).length());
      }
    }
    return rows.stream()
        .map(
            row -> {
              StringBuilder line = new StringBuilder("  ");
              for (int c = 0; c < row.size(); c++) {
                String gap = " ".repeat(widths[c] - row.get(c).length());
                line.append(c == 0 ? row.get(c) + gap : "  " + gap + row.get(c));
              }
              return line.toString().stripTrailing();
            })
        .toList();
  }
}
