package org.draftmill.job.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs that are killed one to five times each, at moments drawn from a seed. {@value #SEED} runs
 * one of them alone, {@value #RUNS} says how many there are.
 */
@Tag("chaos")
@Timeout(3600)
class ChaosSuiteITCase {
  static final String SEED = "draftmill.chaos.seed";
  static final String RUNS = "draftmill.chaos.runs";
  private static final int MANY = 50;

  @TempDir static Path home;
  private static Chaos chaos;

  static LongStream seeds() {
    Long one = Long.getLong(SEED);
    return one == null ? LongStream.rangeClosed(1, Long.getLong(RUNS, MANY)) : LongStream.of(one);
  }

  @BeforeAll
  static void start() throws Exception {
    chaos = Chaos.in(home);
  }

  @AfterAll
  static void stop() throws Exception {
    try {
      System.out.println(chaos.summary());
      if (seeds().count() >= MANY) {
        assertThat(chaos.kills().keySet()).as("moments that were hit").contains(Moment.values());
      }
    } finally {
      chaos.close();
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void endsWithTheWeightsOfTheUndisturbedRun(long seed) throws Exception {
    List<Kill> kills = chaos.survive(Scenario.of(seed));

    assertThat(kills).as("kills that hit").anyMatch(Kill::hit);
  }
}
