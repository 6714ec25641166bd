package org.draftmill.job.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InputRangesTest {
  @TempDir Path dir;

  @Test
  void filesStandAsGivenAndDirectoriesByName() throws Exception {
    Path many = Files.createDirectories(dir.resolve("many"));
    Files.write(many.resolve("b.jsonl"), new byte[5]);
    Files.write(many.resolve("a.jsonl.gz"), new byte[3 << 20]);
    Files.write(many.resolve(".hidden"), new byte[5]);
    Files.write(many.resolve("empty.jsonl"), new byte[0]);
    Path one = Files.write(dir.resolve("z.jsonl"), new byte[(2 << 20) + 1]);

    List<FileSourceSplit> ranges =
        InputRanges.ranges(
            List.of(
                new org.apache.flink.core.fs.Path(one.toUri()),
                new org.apache.flink.core.fs.Path(many.toUri())));

    assertThat(ranges)
        .extracting(
            range ->
                range.splitId()
                    + " "
                    + range.path().getName()
                    + " "
                    + range.offset()
                    + "+"
                    + range.length())
        .containsExactly(
            "00000000 z.jsonl 0+1048576",
            "00000001 z.jsonl 1048576+1048576",
            "00000002 z.jsonl 2097152+1",
            "00000003 a.jsonl.gz 0+3145728",
            "00000004 b.jsonl 0+5");
  }
}
