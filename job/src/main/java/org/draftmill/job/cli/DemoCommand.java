package org.draftmill.job.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.draftmill.job.config.RunOptions;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.demo.Demo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code draftmill demo}: the whole way in a few minutes on a laptop. */
@Command(
    name = "demo",
    description = {
      "Trains a drafter for the shipped target on an embedded Flink and measures it before and after.",
      "Takes some minutes on two cores."
    })
public final class DemoCommand implements Callable<Integer> {
  private final Console console;

  @Option(
      names = "--out",
      defaultValue = "runs/demo",
      paramLabel = "DIR",
      description = "Where everything goes (${DEFAULT-VALUE}).")
  private Path out;

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Port of the web UI; 8081 or the next free one by default.")
  private Integer port;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description = "Train only about N optimizer steps, to try it out.")
  private Integer steps;

  @Option(
      names = "-D",
      paramLabel = "key=value",
      description = "An option of the run; may be given many times.")
  private List<String> overrides = new ArrayList<>();

  public DemoCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    Path home = Path.of(System.getProperty("draftmill.home", ""));
    List<String> all = new ArrayList<>(overrides);
    if (port != null) {
      all.add(RunOptions.WEB_PORT.key() + "=" + port);
    }
    return new Demo(console, home.resolve("demo"), out).run(all, steps).isPresent()
        ? ExitCode.DONE
        : ExitCode.INTERRUPTED;
  }
}
