package org.draftmill.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The figures of one benchmark: printed as they come, and written as {@code
 * benchmarks/results/NAME.json} under the working directory, or to where the system property
 * {@value #FOLDER} says.
 *
 * <p>The processors' load is written beside them: figures of a machine that is busy with something
 * else say little. A smoke run shows only that the benchmark works, so it has no goals.
 */
public final class Results {
  static final String FOLDER = "draftmill.benchmarks.results";

  /** What was wished for, what was found, and whether that is enough. */
  record Goal(double goal, double measured, boolean met) {}

  private final String benchmark;
  private final boolean smoke;
  private final double loadBefore = load();
  private final PrintStream out = System.out;
  private final Map<String, Double> figures = new LinkedHashMap<>();
  private final Map<String, Goal> goals = new LinkedHashMap<>();

  /**
   * @param arguments of the benchmark; {@code --smoke} asks for a smoke run
   */
  public Results(String benchmark, String... arguments) {
    this.benchmark = benchmark;
    this.smoke = Arrays.asList(arguments).contains("--smoke");
    out.printf(
        "%s on %s, load %.1f%s%n", benchmark, machine(), loadBefore, smoke ? ", smoke run" : "");
  }

  /** Whether it matters only that the benchmark works. */
  public boolean isSmoke() {
    return smoke;
  }

  /**
   * Adds a figure and prints it.
   *
   * @param name with its unit, {@code target_tokens_per_second} say
   */
  public double figure(String name, double value) {
    figures.put(name, value);
    out.printf("  %-52s %,14.2f%n", name, value);
    return value;
  }

  /** States that a figure should be at least {@code goal}. */
  public void atLeast(String name, double goal) {
    double measured = figures.get(name);
    goal(name, goal, measured, measured >= goal, "at least");
  }

  /** States that a figure should be at most {@code goal}. */
  public void atMost(String name, double goal) {
    double measured = figures.get(name);
    goal(name, goal, measured, measured <= goal, "at most");
  }

  private void goal(String name, double goal, double measured, boolean met, String word) {
    if (smoke) {
      return;
    }
    goals.put(name, new Goal(goal, measured, met));
    out.printf("  %-52s %,14.2f wanted %s: %s%n", name, goal, word, met ? "met" : "NOT MET");
  }

  /** Writes the file. */
  public void write() throws IOException {
    Path folder = Path.of(System.getProperty(FOLDER, "benchmarks/results"));
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("benchmark", benchmark);
    json.put("machine", machine());
    json.put("commit", commit());
    json.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    json.put("smoke", smoke);
    json.put("load", new double[] {loadBefore, load()});
    json.put("figures", figures);
    json.put("goals", goals);
    Files.createDirectories(folder);
    Path file = folder.resolve(benchmark + ".json");
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), json);
    out.println("  written to " + file);
  }

  /** Threads that ran or waited for a processor, on average over the last minute. */
  private static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  private static String machine() {
    return "%s, %d processors, Java %s"
        .formatted(
            processor(),
            Runtime.getRuntime().availableProcessors(),
            System.getProperty("java.version"));
  }

  private static String processor() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
        if (line.startsWith("model name")) {
          return line.substring(line.indexOf(':') + 1).strip();
        }
      }
    } catch (IOException noLinux) {
      // the architecture has to do
    }
    return System.getProperty("os.arch");
  }

  private static String commit() throws IOException {
    Process git =
        new ProcessBuilder("git", "rev-parse", "HEAD")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String hash = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return hash.isEmpty() ? "unknown" : hash;
  }
}
