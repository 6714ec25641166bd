package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OtherJobsTest {
  private final RunDirectory run = new RunDirectory(Path.of("run"));

  @Test
  void aJobIsKnownByItsRunWhateverElseItTells() {
    Map<String, String> parameters = OtherJobs.parameters(run, Map.of("team", "a", "run.dir", "b"));

    assertThat(parameters).containsEntry("team", "a").hasSize(2);
    assertThat(OtherJobs.isIn(run, parameters)).isTrue();
    assertThat(OtherJobs.isIn(new RunDirectory(Path.of("other")), parameters)).isFalse();
    assertThat(OtherJobs.isIn(run, Map.of())).isFalse();
  }
}
