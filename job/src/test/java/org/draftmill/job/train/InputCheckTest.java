package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.config.RunFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InputCheckTest {
  @TempDir Path dir;

  @Test
  void headsThatAreTooLargeForTheGpuAreRefusedBeforeAnythingStarts() throws IOException {
    Path file = TestingRuns.in(dir, 10, true).file();
    Path config = dir.resolve("target").resolve("config.json");
    Files.writeString(
        config, Files.readString(config).replaceFirst("\"head_dim\": [0-9]+", "\"head_dim\": 256"));
    for (String option : new String[] {"target.device=cuda", "drafter.device=cuda"}) {
      ResolvedRun run = ResolvedRun.of(RunFile.read(file, List.of(option)));
      assertThatThrownBy(() -> InputCheck.verify(run))
          .isInstanceOf(InputException.class)
          .hasMessage(
              config
                  + ": the attention heads have 256 values ('head_dim', or else 'hidden_size' by"
                  + " 'num_attention_heads'), and the device 'cuda' takes at most 128: use the"
                  + " device 'cpu'.");
    }
    ResolvedRun onHost = ResolvedRun.of(RunFile.read(file, List.of("target.device=cpu")));
    assertThatThrownBy(() -> InputCheck.verify(onHost))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("shape");
  }
}
