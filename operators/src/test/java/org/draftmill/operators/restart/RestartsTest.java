package org.draftmill.operators.restart;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.stream.Stream;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RestartsTest {

  static Stream<Throwable> whatStays() {
    return Stream.of(
        new InputException("the header is no JSON"),
        new InputException("there is no such file", new NoSuchFileException("a")),
        new org.draftmill.corpus.InputException("the shard is of another dataset"));
  }

  static Stream<Throwable> whatMayPass() {
    return Stream.of(
        new IllegalStateException("a drafter has died"),
        new InputException("cannot be read", new ClosedByInterruptException()),
        new InputException("cannot be read", new FileSystemException("a", null, "Stale handle")),
        new org.draftmill.corpus.InputException(
            "cannot be read", new UncheckedIOException(new IOException("Input/output error"))));
  }

  @ParameterizedTest
  @MethodSource("whatStays")
  void whatIsWrongWithTheInputStaysWrong(Throwable failure) {
    assertThat(Restarts.arePointless(failure)).isTrue();
  }

  @ParameterizedTest
  @MethodSource("whatMayPass")
  void whatKeepsAFileFromBeingReadMayPass(Throwable failure) {
    assertThat(Restarts.arePointless(failure)).isFalse();
  }

  @Test
  void onlyWhatStaysIsWrapped() {
    InputException wrong = new InputException("no");
    IOException broken = new IOException("broken pipe");

    assertThat(Restarts.judge(wrong)).isInstanceOf(SuppressRestartsException.class).hasCause(wrong);
    assertThat(Restarts.judge(broken)).isSameAs(broken);
  }
}
