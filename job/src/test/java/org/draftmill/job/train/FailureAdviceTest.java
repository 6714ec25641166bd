package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.util.SerializedThrowable;
import org.draftmill.compute.InputException;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.TestingStates;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailureAdviceTest {
  @TempDir Path dir;

  private RunDirectory run;
  private Path newest;

  @BeforeEach
  void makeRun() throws IOException {
    run = RunDirectory.create(dir);
    TestingStates.checkpoint(run, 3, 30);
    newest = TestingStates.checkpoint(run, 4, 40);
  }

  @Test
  void aStateThatCannotBeRestoredIsNamed() {
    Exception failure = restoring(new IOException("The state of jobs has version 7."));

    assertThat(FailureAdvice.explainRestoring(failure, run))
        .isInstanceOf(InputException.class)
        .hasCause(failure)
        .hasMessage(
            "The checkpoint %s cannot be restored: The state of jobs has version 7. Move it away, and the same command goes on from the one before.",
            newest);
  }

  @Test
  void aStorageThatDoesNotAnswerIsNoDamage() {
    for (Exception cause :
        List.of(
            new SocketTimeoutException("no answer"),
            new FileSystemException("state", null, "Stale file handle"),
            new IOException("Input/output error"))) {
      Exception failure = restoring(cause);
      assertThat(FailureAdvice.explainRestoring(failure, run)).isSameAs(failure);
    }
  }

  @Test
  void checkpointsThatCannotBeListedHideNoFailure() throws IOException {
    Path metadata = newest.resolve("_metadata");
    Files.delete(metadata);
    Files.createSymbolicLink(metadata, metadata.getFileName()); // to itself
    Exception failure = restoring(new IOException("The state of jobs has version 7."));

    assertThat(FailureAdvice.explainRestoring(failure, run)).isSameAs(failure);
    assertThat(failure.getSuppressed())
        .singleElement()
        .satisfies(e -> assertThat(e).hasMessageContaining(newest.toString()));
  }

  /** As a cluster gives it. */
  private static Exception restoring(Exception cause) {
    return new SerializedThrowable(
        new Exception("Exception while creating StreamOperatorStateContext.", cause));
  }
}
