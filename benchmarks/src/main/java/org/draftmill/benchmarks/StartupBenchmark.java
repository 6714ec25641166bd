package org.draftmill.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.job.Draftmill;

/**
 * How long a user waits: from the start of the process to what the command line says, and to the
 * first optimizer step of {@code draftmill train} on the demo's target, with a step so small that
 * it hardly counts. Run from the root of the checkout.
 */
public final class StartupBenchmark {
  private static final int SEQUENCES = 64;
  private static final int LENGTH = 64;
  private static final int TOKENS = 2_000; // the demo's vocabulary has some more
  private static final long PATIENCE_SECONDS = 300;
  private static final String HEAP = "1g";

  private final Path folder;
  private int runs;

  private StartupBenchmark(Path folder) {
    this.folder = folder;
  }

  /** {@code [--smoke]}: one start instead of the quickest of three. */
  public static void main(String[] args) throws Exception {
    Results results = new Results("startup", args);
    int starts = results.isSmoke() ? 1 : 3;
    try (TemporaryFolder temporary = TemporaryFolder.create()) {
      StartupBenchmark benchmark = new StartupBenchmark(temporary.path());
      benchmark.writeDataset();
      double version = Double.POSITIVE_INFINITY;
      double firstStep = Double.POSITIVE_INFINITY;
      for (int i = 0; i < starts; i++) {
        version = Math.min(version, benchmark.secondsToVersion());
        firstStep = Math.min(firstStep, benchmark.secondsToFirstStep());
      }
      results.figure("version_seconds", version);
      results.figure("train_first_step_seconds", firstStep);
    }
    results.write();
  }

  private void writeDataset() throws IOException {
    Random random = new Random(5);
    try (DatasetWriter writer = new DatasetWriter(folder.resolve("data"))) {
      for (int s = 0; s < SEQUENCES; s++) {
        byte[] supervised = new byte[LENGTH];
        Arrays.fill(supervised, (byte) 1);
        int[] ids = random.ints(LENGTH, 0, TOKENS).toArray();
        writer.write(new TokenizedSequence(ids, supervised));
      }
      writer.finish(new DatasetManifest.Origin("random", "0".repeat(64), 0), Map.of());
    }
  }

  private double secondsToVersion() throws IOException, InterruptedException {
    long start = System.nanoTime();
    Process process = start("--version");
    if (process.waitFor() != 0) {
      throw new IOException("--version ended with " + process.exitValue() + ".");
    }
    return (System.nanoTime() - start) * 1e-9;
  }

  private double secondsToFirstStep() throws IOException, InterruptedException {
    Path run = folder.resolve("run-" + runs++);
    Path steps = run.resolve("log").resolve("live.csv");
    Path file = Files.writeString(folder.resolve("run.yaml"), runFile(run));
    long start = System.nanoTime();
    Process process = start("train", "--config", file.toString());
    try {
      while (!hasStep(steps)) {
        if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)
            || !process.isAlive() && !hasStep(steps)) {
          throw new IOException("train made no step; it said:\n" + Files.readString(output()));
        }
        Thread.sleep(5);
      }
      return (System.nanoTime() - start) * 1e-9;
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  /** A header, and a line a step. */
  private static boolean hasStep(Path steps) throws IOException {
    return Files.exists(steps)
        && Files.readString(steps).chars().filter(c -> c == '\n').count() > 1;
  }

  private String runFile(Path run) {
    return """
        run: {dir: %s, seed: 1, web-port: 0}
        target: {model: %s, parallelism: 1, threads: 1}
        jobs: {dataset: %s, token-budget: 256}
        pool: {min-ready: 2, max-ready: 4}
        drafter: {parallelism: 1, threads: 1, layers: 1, block-size: 4, anchors: 4, accumulation: 2}
        """
        .formatted(run, Path.of("demo", "target").toAbsolutePath(), folder.resolve("data"));
  }

  private Process start(String... arguments) throws IOException {
    return new ProcessBuilder(ChildJvm.command(HEAP, Draftmill.class.getName(), arguments))
        .redirectErrorStream(true)
        .redirectOutput(Redirect.to(output().toFile()))
        .start();
  }

  private Path output() {
    return folder.resolve("output.txt");
  }
}
