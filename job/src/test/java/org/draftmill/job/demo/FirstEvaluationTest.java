package org.draftmill.job.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FirstEvaluationTest {
  @TempDir Path dir;

  @Test
  void isFoundAgainForTheSameDrafterOnly() throws Exception {
    Path file = dir.resolve(FirstEvaluation.FILE);
    assertThat(FirstEvaluation.read(file, "seed 1")).isEmpty();

    FirstEvaluation figures = new FirstEvaluation("seed 1", 1.25, true);
    figures.write(file);

    assertThat(FirstEvaluation.read(file, "seed 1")).contains(figures);
    assertThat(FirstEvaluation.read(file, "seed 2")).isEmpty();

    Files.writeString(file, "{");
    assertThat(FirstEvaluation.read(file, "seed 1")).isEmpty();
  }
}
