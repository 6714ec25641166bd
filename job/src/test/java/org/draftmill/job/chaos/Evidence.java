package org.draftmill.job.chaos;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.job.run.DrafterStates;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.train.ResolvedRun;

/**
 * What a run that has ended leaves behind, as far as two runs can be compared by it.
 *
 * @param masters SHA-256 of the fp32 weights in the last state of the drafters
 * @param export SHA-256 of the exported file of weights
 * @param steps the rows of the training log without times, by step
 */
record Evidence(String masters, String export, List<String> steps) {
  private static final List<String> TIMES =
      List.of("seconds", "wait_pool", "forward", "backward", "reduce", "optimizer");

  /**
   * Reads it, and proves from the training log that every job of the plan was trained exactly once.
   *
   * @throws AssertionError saying what is missing, is there twice, or is left half-written
   */
  static Evidence of(ResolvedRun run) throws IOException {
    RunDirectory directory = run.directory();
    List<JsonNode> rows = rows(directory.log());
    requireEveryJobOnce(rows, run);
    requireNothingHalfWritten(directory.export());
    List<String> steps = new ArrayList<>();
    for (JsonNode row : rows) {
      steps.add(((ObjectNode) row).without(TIMES).toString());
    }
    return new Evidence(
        masters(directory, run.steps()),
        sha256(Files.readAllBytes(directory.latestExport().resolve("model.safetensors"))),
        steps);
  }

  private static List<JsonNode> rows(Path log) throws IOException {
    ObjectMapper json = new ObjectMapper();
    List<JsonNode> rows = new ArrayList<>();
    try (Stream<Path> files = Files.list(log)) {
      for (Path file : files.filter(Evidence::isLog).toList()) {
        for (String line : Files.readAllLines(file)) {
          rows.add(json.readTree(line));
        }
      }
    }
    rows.sort((a, b) -> Long.compare(a.get("step").asLong(), b.get("step").asLong()));
    return rows;
  }

  private static boolean isLog(Path file) {
    String name = file.getFileName().toString();
    return name.startsWith("training") && name.endsWith(".jsonl");
  }

  private static void requireEveryJobOnce(List<JsonNode> rows, ResolvedRun run) {
    BitSet trained = trained(rows);
    if (trained.cardinality() != run.wantedJobs() || trained.length() != run.wantedJobs()) {
      throw new AssertionError(
          "%d jobs of %d are trained; the first that is not is %d."
              .formatted(trained.cardinality(), run.wantedJobs(), trained.nextClearBit(0)));
    }
    if (rows.size() != run.steps()) {
      throw new AssertionError("%d steps of %d.".formatted(rows.size(), run.steps()));
    }
  }

  /** Proves the same of a run that was stopped, as far as it came. */
  static void requireEveryLoggedStepOnce(ResolvedRun run) throws IOException {
    List<JsonNode> rows = rows(run.directory().log());
    int trained = trained(rows).cardinality();
    int expected = rows.size() * run.drafter().accumulation();
    if (trained != expected) {
      throw new AssertionError("%d jobs in %d steps.".formatted(trained, rows.size()));
    }
    System.out.printf("%d steps, %d jobs, each once%n", rows.size(), trained);
  }

  /** Jobs of steps that follow each other without a gap; none of them twice. */
  private static BitSet trained(List<JsonNode> rows) {
    BitSet trained = new BitSet();
    for (int step = 0; step < rows.size(); step++) {
      JsonNode row = rows.get(step);
      if (row.get("step").asLong() != step) {
        throw new AssertionError(
            "The training log holds step %s where step %d should be."
                .formatted(row.get("step"), step));
      }
      if (row.get("skipped").asBoolean() || !row.get("dead_jobs").isEmpty()) {
        throw new AssertionError("Nothing is wrong with the data of " + row);
      }
      for (JsonNode job : row.get("jobs")) {
        if (trained.get(job.asInt())) {
          throw new AssertionError("Job %s is trained twice.".formatted(job));
        }
        trained.set(job.asInt());
      }
    }
    return trained;
  }

  private static void requireNothingHalfWritten(Path export) throws IOException {
    try (Stream<Path> files = Files.list(export)) {
      for (Path file : files.toList()) {
        if (!file.getFileName().toString().matches("step-\\d{8,}|latest")) {
          throw new AssertionError("There is a " + file);
        }
      }
    }
  }

  private static String masters(RunDirectory run, long steps) throws IOException {
    try (DrafterStateFiles states = DrafterStateFiles.open(DrafterStates.newest(run.root()))) {
      states.verify();
      if (states.step() != steps) {
        throw new AssertionError(
            "The last state of the drafters is of step %d of %d.".formatted(states.step(), steps));
      }
      float[] weights = states.weights();
      ByteBuffer bytes =
          ByteBuffer.allocate(Float.BYTES * weights.length).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asFloatBuffer().put(weights);
      return sha256(bytes.array());
    }
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
