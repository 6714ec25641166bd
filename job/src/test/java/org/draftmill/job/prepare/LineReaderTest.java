package org.draftmill.job.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineReaderTest {
  @Test
  void rangesOfAnySizeGiveEveryLineOnceAndInOrder() throws Exception {
    Random random = new Random(1);
    for (int round = 0; round < 300; round++) {
      List<String> lines = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      int count = random.nextInt(12);
      for (int i = 0; i < count; i++) {
        String line = "x".repeat(random.nextInt(9)) + i;
        lines.add(line);
        boolean last = i == count - 1;
        text.append(line)
            .append(last && random.nextBoolean() ? "" : random.nextBoolean() ? "\n" : "\r\n");
      }
      byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      int range = 1 + random.nextInt(bytes.length + 2);

      assertThat(inRanges(bytes, range)).as("%s in ranges of %d", text, range).isEqualTo(lines);
    }
  }

  private static List<String> inRanges(byte[] bytes, int range) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int from = 0; from < bytes.length; from += range) {
      int start = Math.max(0, from - 1);
      ByteArrayInputStream in = new ByteArrayInputStream(bytes, start, bytes.length - start);
      try (LineReader reader =
          new LineReader(in, from > 0, Math.min(range, bytes.length - from), 1 << 20)) {
        while (reader.next()) {
          lines.add(new String(reader.line(), StandardCharsets.UTF_8));
        }
      }
    }
    return lines;
  }

  /** Else each range of a file without line ends would read to the end of the file. */
  @Test
  void aLineThatRunsThroughTheRangeIsReadNoFurther() throws Exception {
    byte[] bytes = ("y".repeat(1 << 20) + "\nb\n").getBytes(StandardCharsets.UTF_8);
    ByteArrayInputStream in = new ByteArrayInputStream(bytes);
    try (LineReader reader = new LineReader(in, true, 100, 1 << 20)) {
      assertThat(reader.next()).isFalse();
    }
    assertThat(in.available()).isGreaterThan(bytes.length / 2);
  }

  @Test
  void aLineBeyondTheLimitIsCountedAndNotHeld() throws Exception {
    byte[] bytes = ("a\n" + "y".repeat(200_000) + "\nb\n").getBytes(StandardCharsets.UTF_8);
    List<byte[]> lines = new ArrayList<>();
    try (LineReader reader =
        new LineReader(new ByteArrayInputStream(bytes), false, bytes.length, 100)) {
      while (reader.next()) {
        lines.add(reader.line());
      }
    }
    assertThat(lines).containsExactly(new byte[] {'a'}, null, new byte[] {'b'});
  }
}
