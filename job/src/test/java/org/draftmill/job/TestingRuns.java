package org.draftmill.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.job.console.Console;
import org.draftmill.job.train.TrainingLog;

/** A tiny target, a tiny dataset and a run file over them, in a directory of a test. */
public final class TestingRuns {
  private final Path directory;

  private TestingRuns(Path directory) {
    this.directory = directory;
  }

  /**
   * @param sequences of the dataset, of 8 to 40 tokens
   * @param supervised whether any token is
   */
  public static TestingRuns in(Path directory, int sequences, boolean supervised)
      throws IOException {
    TestingModels.tiny(directory.resolve("target"));
    writeDataset(
        directory.resolve("data"), sequences, supervised, DatasetManifest.UNKNOWN_TOKENIZER);
    TestingRuns runs = new TestingRuns(directory);
    Files.writeString(
        runs.file(),
        """
        run: {dir: %1$s/run, seed: 7, web-port: 0}
        target: {model: %1$s/target, parallelism: 2, taps: [0, 1], threads: 1, chunk-size: 4kb}
        jobs: {dataset: %1$s/data, token-budget: 64, bucket-bounds: [16, 32]}
        pool: {min-ready: 3, max-ready: 6}
        drafter:
          parallelism: 2
          threads: 1
          layers: 1
          block-size: 4
          anchors: 4
          accumulation: 3
          optimizer: {lr: 1.0e-3}
        checkpoint: {interval: 1s, keep: 2}
        """
            .formatted(directory));
    return runs;
  }

  /**
   * @param tokenizer checksum of the one that its ids are of
   */
  public static void writeDataset(
      Path directory, int sequences, boolean supervised, String tokenizer) throws IOException {
    Random random = new Random(3);
    try (DatasetWriter writer = new DatasetWriter(directory)) {
      for (int s = 0; s < sequences; s++) {
        int length = 8 + random.nextInt(33);
        int[] ids = new int[length];
        byte[] mask = new byte[length];
        for (int i = 0; i < length; i++) {
          ids[i] = random.nextInt(TestingModels.VOCABULARY - 1);
          mask[i] = (byte) (supervised && i >= 3 ? 1 : 0);
        }
        writer.write(new TokenizedSequence(ids, mask));
      }
      writer.finish(new DatasetManifest.Origin("tiny", tokenizer, 0), Map.of());
    }
  }

  public Path file() {
    return directory.resolve("run.yaml");
  }

  public Path runDirectory() {
    return directory.resolve("run");
  }

  /** What a command said, and how it ended. */
  public record Result(int exitCode, String out, String err) {}

  /** Runs {@code draftmill train} on the run file in this process. */
  public Result train(String... overrides) {
    return draftmill(
        Stream.concat(Stream.of("train"), Stream.of(arguments(overrides))).toArray(String[]::new));
  }

  /** What names the run file, with options that go before it: {@code --config} and {@code -D}. */
  public String[] arguments(String... overrides) {
    List<String> arguments = new ArrayList<>(List.of("--config", file().toString()));
    for (String override : overrides) {
      arguments.addAll(List.of("-D", override));
    }
    return arguments.toArray(String[]::new);
  }

  /** Runs a command in this process. */
  public static Result draftmill(String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Console console =
        new Console(
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            false,
            0);
    int code = Draftmill.run(console, arguments);
    return new Result(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  /** Each job of the plan stands once in the training log, and the steps have no gap. */
  public static void requireEveryJobOnce(Path run) throws IOException {
    long jobs = Plan.read(ByteSources.directory(run.resolve("plan"))).jobs();
    List<TrainingLog.Row> rows = TrainingLog.read(run.resolve("log"));
    List<Long> trained = new ArrayList<>();
    rows.forEach(row -> trained.addAll(row.jobs()));
    assertThat(trained)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, jobs).boxed().toList());
    assertThat(rows)
        .extracting(TrainingLog.Row::step)
        .containsExactlyElementsOf(LongStream.range(0, rows.size()).boxed().toList());
    assertThat(
            Files.exists(run.resolve("dead-letter"))
                ? Files.list(run.resolve("dead-letter")).toList()
                : List.of())
        .isEmpty();
  }

  /** SHA-256 of the exported weights of a run. */
  public static String weights(Path run) throws IOException {
    try {
      byte[] file = Files.readAllBytes(run.resolve("export/latest/model.safetensors"));
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(file));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
