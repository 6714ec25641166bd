package org.draftmill.job.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In a process of its own, started by a shell that gives it descriptors as the script does. */
@Timeout(600)
class StandardErrorTest {

  /** What the process runs: it writes to both streams in turn. */
  public static final class Main {
    private Main() {}

    public static void main(String[] arguments) {
      StandardError.redirect();
      for (int i = 0; i < 3; i++) {
        System.out.println("output " + i);
        System.err.println("error " + i);
      }
    }
  }

  @TempDir Path dir;

  @Test
  void aFileThatOthersWriteToTooHoldsEveryLineInItsOrder() throws Exception {
    run("{ echo before; \"$0\" \"$@\" 3>&2 2>/dev/null; echo after; } >log 2>&1");

    assertThat(Files.readAllLines(dir.resolve("log")))
        .containsExactly(
            "before", "output 0", "error 0", "output 1", "error 1", "output 2", "error 2", "after");
  }

  @Test
  void aFileThatWasThereIsAppendedTo() throws Exception {
    Files.writeString(dir.resolve("log"), "yesterday\n");

    run("\"$0\" \"$@\" 3>>log 2>/dev/null >/dev/null");

    assertThat(Files.readAllLines(dir.resolve("log")))
        .containsExactly("yesterday", "error 0", "error 1", "error 2");
  }

  private void run(String command) throws Exception {
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                command,
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-opens=java.base/java.io=ALL-UNNAMED",
                "-Ddraftmill.stderr=3",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName())
            .directory(dir.toFile())
            .inheritIO()
            .start();
    try {
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }
}
