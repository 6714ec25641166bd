package org.draftmill.job.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.draftmill.job.TestingProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In a process of its own, for a signal is for all of it. */
@Timeout(600)
class SecondInterruptTest {

  /** What the process runs: its clean end lasts for ever. */
  public static final class Main {
    private Main() {}

    public static void main(String[] arguments) throws InterruptedException {
      Interrupts.handle(Main::end, () -> System.out.println("clearing"));
      System.out.println("ready");
      Thread.sleep(Long.MAX_VALUE);
    }

    private static void end() {
      System.out.println("stopping");
      try {
        Thread.sleep(Long.MAX_VALUE);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void theFirstSignalEndsCleanlyTheSecondAtOnce() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName())
            // A JVM names there the options that it takes from the environment.
            .redirectError(Redirect.DISCARD)
            .start();
    try (BufferedReader output = process.inputReader()) {
      assertThat(output.readLine()).isEqualTo("ready");
      TestingProcess.signal(process, "-INT");
      assertThat(output.readLine()).isEqualTo("stopping");
      assertThat(process.isAlive()).isTrue();
      TestingProcess.signal(process, "-TERM");
      assertThat(output.readLine()).isEqualTo("clearing");
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isEqualTo(ExitCode.INTERRUPTED);
    } finally {
      process.destroyForcibly();
    }
  }
}
