package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveLogReaderTest {
  @TempDir Path dir;

  @Test
  void followsAFileThatGrowsInTheMiddleOfALine() throws Exception {
    Path file = dir.resolve("live.csv");
    LiveLogReader log = new LiveLogReader(file, false);
    assertThat(log.poll()).isEmpty();

    Files.writeString(file, "step,loss\n1,7.5\n2,7");
    assertThat(log.poll()).containsExactly(Map.of("step", 1.0, "loss", 7.5));

    Files.writeString(file, ".25\nstep,loss\n2,7.0\n", StandardOpenOption.APPEND);
    assertThat(log.poll())
        .containsExactly(Map.of("step", 2.0, "loss", 7.25), Map.of("step", 2.0, "loss", 7.0));
    assertThat(log.poll()).isEmpty();
  }

  @Test
  void passesOverWhatLaysThereBefore() throws Exception {
    Path file = Files.writeString(dir.resolve("live.csv"), "step,loss\n1,7.5\n");
    LiveLogReader log = new LiveLogReader(file, true);
    Files.writeString(file, "2,7.0\n", StandardOpenOption.APPEND);

    assertThat(log.poll()).containsExactly(Map.of("step", 2.0, "loss", 7.0));
  }
}
