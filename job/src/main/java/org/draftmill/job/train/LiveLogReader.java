package org.draftmill.job.train;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows {@code log/live.csv} while a run appends to it. Its first line names the columns; a step
 * may stand there again after a restart.
 */
final class LiveLogReader {
  private static final int READ_BYTES = 1 << 16;

  private final Path file;
  private long position;
  private String unfinished = "";
  private List<String> columns = List.of();

  /**
   * @param fromEnd whether rows that lie there already are passed over
   */
  LiveLogReader(Path file, boolean fromEnd) throws IOException {
    this.file = file;
    if (fromEnd && Files.exists(file)) {
      poll();
    }
  }

  /** The rows since the last call, each by column. */
  List<Map<String, Double>> poll() throws IOException {
    List<Map<String, Double>> rows = new ArrayList<>();
    if (!Files.exists(file)) {
      return rows;
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer buffer = ByteBuffer.allocate(READ_BYTES);
      while (channel.read(buffer.clear(), position) > 0) {
        position += buffer.position();
        // The file is ASCII, so a character is never cut in two.
        unfinished += StandardCharsets.US_ASCII.decode(buffer.flip());
        takeLines(rows);
      }
    }
    return rows;
  }

  private void takeLines(List<Map<String, Double>> rows) {
    int end;
    while ((end = unfinished.indexOf('\n')) >= 0) {
      String line = unfinished.substring(0, end).strip();
      unfinished = unfinished.substring(end + 1);
      List<String> cells = List.of(line.split(",", -1));
      if (!line.isEmpty() && Character.isLetter(line.charAt(0))) {
        columns = cells;
      } else if (!line.isEmpty() && cells.size() == columns.size()) {
        rows.add(row(cells));
      }
    }
  }

  private Map<String, Double> row(List<String> cells) {
    Map<String, Double> row = new HashMap<>();
    for (int i = 0; i < cells.size(); i++) {
      try {
        row.put(columns.get(i), Double.parseDouble(cells.get(i)));
      } catch (NumberFormatException e) {
        // A column of text is of no use here.
      }
    }
    return row;
  }
}
