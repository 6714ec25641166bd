package org.draftmill.job.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.util.SerializedThrowable;
import org.draftmill.job.cli.Failures.Verdict;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;

class FailuresTest {
  @Test
  void unusableInputIsFoundBelowWhateverWrapsIt() {
    Exception input = new org.draftmill.corpus.InputException("a.jobs is cut short at byte 7.");

    assertThat(Failures.judge(new IllegalStateException("task failed", input)))
        .isEqualTo(new Verdict(ExitCode.UNUSABLE, "a.jobs is cut short at byte 7."));
    assertThat(Failures.judge(new IllegalConfigurationException("pool.max-ready is 3.")))
        .isEqualTo(new Verdict(ExitCode.UNUSABLE, "pool.max-ready is 3."));
  }

  @Test
  void unusableInputIsFoundWhenFlinkHasSerializedIt() {
    Exception input = new org.draftmill.compute.InputException("config.json has no hidden_size.");
    Exception asFlinkHandsItOn =
        new RuntimeException("Job failed", new SerializedThrowable(new IOException("x", input)));

    assertThat(Failures.judge(asFlinkHandsItOn))
        .isEqualTo(new Verdict(ExitCode.UNUSABLE, "config.json has no hidden_size."));
  }

  @Test
  void anyOtherFailureIsOneLineWithItsRootCause() {
    assertThat(Failures.judge(new RuntimeException("job", new IOException("No space left"))))
        .isEqualTo(new Verdict(ExitCode.FAILED, "IOException: No space left"));
    assertThat(Failures.judge(new NullPointerException()).message())
        .isEqualTo("NullPointerException: no message (see -v or the log)");
  }
}
