package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** State files of every version stay readable; version 1 is written to the byte as it was. */
class DrafterStateFormatTest {
  private static final DrafterConfig CONFIG =
      TestingDrafters.config(1, Taps.of(2), 2, new Heads(1, 1, 2), 4, 3, 5);
  private static final int PARAMETERS = new ParameterLayout(CONFIG).size();

  @TempDir Path folder;

  private static DrafterState state() {
    float[] weights = new float[PARAMETERS];
    float[] first = new float[PARAMETERS];
    float[] second = new float[PARAMETERS];
    for (int i = 0; i < PARAMETERS; i++) {
      weights[i] = i / 8f - 3;
      first[i] = -i / 1024f;
      second[i] = i / 65536f;
    }
    return new DrafterState(
        PinnedRun.of("cpu", CONFIG, TestingDrafters.settings(CONFIG, 6, 60)),
        0,
        1,
        7,
        6,
        0,
        PARAMETERS,
        weights,
        first,
        second,
        LongStream.range(0, PARAMETERS).map(i -> i << 33).toArray(),
        LongStream.range(0, StepSums.scalars(1)).toArray());
  }

  private static Path stored() {
    try {
      return Path.of(
          DrafterStateFormatTest.class.getResource("/drafter-state/v1.safetensors").toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void version1IsRead() {
    try (DrafterStateFiles states = DrafterStateFiles.open(List.of(stored()))) {
      states.verify();
      assertThat(states.step()).isEqualTo(7);
      assertThat(states.updates()).isEqualTo(6);
      assertThat(states.config()).isEqualTo(CONFIG);
      assertThat(states.weights()).isEqualTo(state().weights());
      float[] second = new float[PARAMETERS];
      states.readFloats(DrafterStateFile.SECOND_MOMENTS, 0, second);
      assertThat(second).isEqualTo(state().secondMoments());
      long[] gradient = new long[PARAMETERS];
      long[] scalars = new long[StepSums.scalars(1)];
      states.addSums(0, 1, gradient, scalars);
      states.addSums(0, 1, gradient, scalars);
      assertThat(gradient[5]).isEqualTo(10L << 33);
      assertThat(scalars[StepSums.NUMERATOR]).isEqualTo(2L * StepSums.NUMERATOR);
    }
  }

  @Test
  void version1IsWrittenAsItWas() throws IOException {
    Path file = folder.resolve("again.safetensors");
    DrafterStateFiles.write(file, state());
    assertThat(file).hasSameBinaryContentAs(stored());
  }

  @Test
  void versionsToComeAreRefused() throws IOException {
    String text = Files.readString(stored(), StandardCharsets.ISO_8859_1);
    Path file = folder.resolve("later.safetensors");
    Files.writeString(
        file, text.replace("\"version\":\"1\"", "\"version\":\"2\""), StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> DrafterStateFiles.open(List.of(file)))
        .isInstanceOf(InputException.class)
        .hasMessage(file + ": is of version 2; this program reads version 1.");
  }
}
