package org.draftmill.operators.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AnswerTest {

  @Test
  void passesThroughAResponseOfFlink() throws IOException {
    Answer demand =
        new Answer(new Gate(1L << 40, true, false), Optional.of(new Demand(3, 2, 1L << 41)));
    assertThat(Answer.from(demand.toResponse())).isEqualTo(demand);
    Answer nothing = Answer.nothing(Gate.CLOSED);
    assertThat(Answer.from(nothing.toResponse())).isEqualTo(nothing);
  }

  @Test
  void theResponseIsOfAClassThatEveryProcessKnows() {
    assertThat(Answer.nothing(Gate.CLOSED).toResponse().getClass().getPackageName())
        .startsWith("org.apache.flink");
  }
}
