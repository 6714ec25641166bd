package org.draftmill.job;

import java.util.concurrent.Callable;
import org.draftmill.job.cli.BalanceCommand;
import org.draftmill.job.cli.DemoCommand;
import org.draftmill.job.cli.EvaluateCommand;
import org.draftmill.job.cli.ExportCommand;
import org.draftmill.job.cli.Failures;
import org.draftmill.job.cli.InspectCommand;
import org.draftmill.job.cli.PlanCommand;
import org.draftmill.job.cli.PrepareCommand;
import org.draftmill.job.cli.TrainCommand;
import org.draftmill.job.cli.Version;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.Console.Verbosity;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.console.LogFile;
import org.draftmill.job.console.StandardError;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The command line. Exit codes: see {@link ExitCode}. */
@Command(
    name = "draftmill",
    description = "Trains draft models for speculative decoding as an Apache Flink job.",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Version.class,
    usageHelpAutoWidth = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      PrepareCommand.class,
      PlanCommand.class,
      TrainCommand.class,
      EvaluateCommand.class,
      ExportCommand.class,
      InspectCommand.class,
      BalanceCommand.class
    })
public final class Draftmill implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = {"-q", "--quiet"},
      scope = ScopeType.INHERIT,
      description = "Say only results and errors.")
  private boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      scope = ScopeType.INHERIT,
      description = "Say details, and the whole trace of a failure.")
  private boolean verbose;

  public static void main(String[] arguments) {
    StandardError.redirect();
    LogFile.none();
    // Flink leaves threads behind that are no daemons: end here, whatever still runs.
    System.exit(run(Console.ofProcess(), arguments));
  }

  /** Runs one command and returns its exit code. */
  public static int run(Console console, String... arguments) {
    Draftmill root = new Draftmill();
    CommandLine commandLine = new CommandLine(root, new CommandFactory(console));
    commandLine
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(parsed -> root.execute(console, parsed))
        .setParameterExceptionHandler((e, args) -> refuse(console, e))
        .setExecutionExceptionHandler((e, line, parsed) -> fail(console, e));
    try {
      return commandLine.execute(arguments);
    } catch (StackOverflowError | OutOfMemoryError | LinkageError e) {
      return fail(console, e);
    }
  }

  /** Without a command: how to use it. */
  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "Which command?");
  }

  /** Gives each command the console. */
  private record CommandFactory(Console console) implements CommandLine.IFactory {
    @Override
    public <K> K create(Class<K> type) throws Exception {
      try {
        return type.getConstructor(Console.class).newInstance(console);
      } catch (NoSuchMethodException e) {
        return CommandLine.defaultFactory().create(type);
      }
    }
  }

  private int execute(Console console, ParseResult parsed) {
    if (quiet || verbose) {
      console.verbosity(verbose ? Verbosity.VERBOSE : Verbosity.QUIET);
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  private static int refuse(Console console, ParameterException e) {
    CommandLine command = e.getCommandLine();
    console.error(e.getMessage());
    console.hint("Try `" + command.getCommandSpec().qualifiedName() + " --help`.");
    return ExitCode.UNUSABLE;
  }

  private static int fail(Console console, Throwable failure) {
    Failures.Verdict verdict = Failures.judge(failure);
    console.error(verdict.message());
    console.trace(failure);
    return verdict.exitCode();
  }
}
