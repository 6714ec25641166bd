package org.draftmill.job;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.apache.flink.client.program.ProgramParametrizationException;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flink's command line prints a trace with all exceptions but this one. */
class TrainJobTest {
  @TempDir Path dir;

  @Test
  void argumentsThatCannotBeUsedAreASentence() {
    assertThatThrownBy(() -> TrainJob.main(new String[] {"--config"}))
        .isInstanceOf(ProgramParametrizationException.class)
        .hasMessageContaining("--config")
        .hasMessageEndingWith("; --help says how it is used.");
  }

  @Test
  void inputThatCannotBeUsedIsASentence() throws Exception {
    TestingRuns runs = TestingRuns.in(dir, 4, true);

    assertThatThrownBy(() -> TrainJob.main(runs.arguments("drafter.anchors=0")))
        .isInstanceOf(ProgramParametrizationException.class)
        .hasMessage("drafter.anchors is 0, but it must be at least 1.")
        .hasCauseInstanceOf(InputException.class);
  }
}
