package org.draftmill.job.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Five of the disturbed runs of {@link ChaosSuiteITCase}, in every build: all moments in few kills.
 */
@Timeout(3600)
class ChaosITCase {
  private static final int TRIES = 5;

  @TempDir static Path home;
  private static Chaos chaos;

  @BeforeAll
  static void start() throws Exception {
    chaos = Chaos.in(home);
  }

  @AfterAll
  static void stop() throws Exception {
    System.out.println(chaos.summary());
    chaos.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {7, 9, 10, 15, 38})
  void endsWithTheWeightsOfTheUndisturbedRun(long seed) throws Exception {
    boolean hit = false;
    // The run does not wait for its killer, who may be the one that is not given a processor.
    for (int tries = 1; tries <= TRIES && !hit; tries++) {
      hit = chaos.survive(Scenario.of(seed)).stream().anyMatch(Kill::hit);
    }
    assertThat(hit).as("a kill that hit").isTrue();
  }
}
