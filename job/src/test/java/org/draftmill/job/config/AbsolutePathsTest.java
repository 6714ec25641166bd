package org.draftmill.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.draftmill.operators.jobs.JobsOptions;
import org.draftmill.operators.target.TargetOptions;
import org.junit.jupiter.api.Test;

class AbsolutePathsTest {
  @Test
  void relativePathsAreThoseOfThisDirectory() {
    Configuration options = new Configuration();
    options.set(RunOptions.DIR, "runs/../runs/a");
    options.set(TargetOptions.MODEL, "/models/m");
    options.set(JobsOptions.PLAN, "s3://bucket/plan");

    Configuration absolute = AbsolutePaths.in(options);

    assertThat(absolute.get(RunOptions.DIR))
        .isEqualTo(Path.of("runs/a").toAbsolutePath().toString());
    assertThat(absolute.get(TargetOptions.MODEL)).isEqualTo("/models/m");
    assertThat(absolute.get(JobsOptions.PLAN)).isEqualTo("s3://bucket/plan");
    assertThat(absolute.getOptional(JobsOptions.DATASET)).isEmpty();
    assertThat(options.get(RunOptions.DIR)).isEqualTo("runs/../runs/a");
  }
}
