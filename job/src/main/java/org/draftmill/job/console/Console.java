package org.draftmill.job.console;

import java.io.PrintStream;

/**
 * What a command says to its user. Results and progress go to the standard output, complaints to
 * the standard error. Thread-safe: whole lines do not interleave.
 */
public final class Console {
  /** How much is said: {@code -q} only results and errors, {@code -v} also causes and details. */
  public enum Verbosity {
    QUIET,
    NORMAL,
    VERBOSE
  }

  private static final String ERASE_LINE = "\r\u001b[2K";

  private final PrintStream out;
  private final PrintStream err;
  private final boolean terminal;
  private final int columns;
  private Verbosity verbosity = Verbosity.NORMAL;
  private String live = "";

  /**
   * @param terminal whether {@code out} is a terminal that may be rewritten and coloured
   * @param columns its width in characters
   */
  public Console(PrintStream out, PrintStream err, boolean terminal, int columns) {
    this.out = out;
    this.err = err;
    this.terminal = terminal;
    this.columns = columns;
  }

  /**
   * The console of this process; whether it is a terminal, and how wide, is known to the script
   * that started it and comes in {@code draftmill.terminal.columns}.
   */
  public static Console ofProcess() {
    int columns = Integer.getInteger("draftmill.terminal.columns", 0);
    return new Console(System.out, System.err, columns > 0, columns);
  }

  public synchronized void verbosity(Verbosity verbosity) {
    this.verbosity = verbosity;
  }

  public synchronized Verbosity verbosity() {
    return verbosity;
  }

  public boolean isTerminal() {
    return terminal;
  }

  public int columns() {
    return columns;
  }

  /** A line of information; not shown with {@code -q}. */
  public synchronized void say(String line) {
    if (verbosity != Verbosity.QUIET) {
      println(line);
    }
  }

  /** A line shown only with {@code -v}. */
  public synchronized void detail(String line) {
    if (verbosity == Verbosity.VERBOSE) {
      println(line);
    }
  }

  /** A result: shown always. */
  public synchronized void result(String line) {
    println(line);
  }

  /** A heading of a stage of work. */
  public synchronized void heading(String text) {
    if (verbosity != Verbosity.QUIET) {
      println("");
      println(bold(text));
    }
  }

  /** Something that does not stop the command but should be known. */
  public synchronized void warn(String line) {
    hideLive();
    err.println(coloured("33", "warning: ") + line);
    err.flush();
    showLive();
  }

  /** What went wrong. */
  public synchronized void error(String line) {
    hideLive();
    live = "";
    err.println(coloured("31", "error: ") + line);
    err.flush();
  }

  /** What to do about it; follows an error. */
  public synchronized void hint(String line) {
    err.println(line);
    err.flush();
  }

  /** The trace of a failure; only with {@code -v}. */
  public synchronized void trace(Throwable failure) {
    if (verbosity == Verbosity.VERBOSE) {
      failure.printStackTrace(err);
    }
  }

  /**
   * On a terminal, replaces the line at the bottom; elsewhere does nothing. An empty text takes it
   * away.
   */
  public synchronized void live(String text) {
    if (!terminal || verbosity == Verbosity.QUIET || text.equals(live)) {
      return;
    }
    hideLive();
    live = text.length() < columns ? text : text.substring(0, Math.max(0, columns - 1));
    showLive();
  }

  public String bold(String text) {
    return coloured("1", text);
  }

  public String dim(String text) {
    return coloured("2", text);
  }

  private String coloured(String code, String text) {
    return terminal ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }

  private void println(String line) {
    hideLive();
    out.println(line);
    showLive();
  }

  private void hideLive() {
    if (!live.isEmpty()) {
      out.print(ERASE_LINE);
      out.flush();
    }
  }

  private void showLive() {
    if (!live.isEmpty()) {
      out.print(live);
    }
    out.flush();
  }
}
