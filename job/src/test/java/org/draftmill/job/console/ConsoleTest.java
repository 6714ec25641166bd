package org.draftmill.job.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.draftmill.job.console.Console.Verbosity;
import org.junit.jupiter.api.Test;

class ConsoleTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private Console console(boolean terminal, int columns) {
    return new Console(
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        terminal,
        columns);
  }

  @Test
  void quietSaysOnlyResultsAndErrors() {
    Console console = console(false, 0);
    console.verbosity(Verbosity.QUIET);
    console.say("information");
    console.heading("stage");
    console.result("tau 1.5");
    console.error("broken");

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("tau 1.5\n");
    assertThat(err.toString(StandardCharsets.UTF_8)).isEqualTo("error: broken\n");
  }

  @Test
  void whereThereIsNoTerminalNothingIsRewrittenOrColoured() {
    Console console = console(false, 0);
    console.live("50 %");
    console.say(console.bold("done"));

    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo("done\n");
  }

  @Test
  void theLiveLineStaysBelowWhatIsSaidAndFitsTheTerminal() {
    Console console = console(true, 10);
    console.live("0123456789abc");
    console.say("a line");
    console.live("");

    assertThat(out.toString(StandardCharsets.UTF_8))
        .isEqualTo("012345678" + "\r\u001b[2K" + "a line\n" + "012345678" + "\r\u001b[2K");
  }
}
