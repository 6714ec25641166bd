package org.draftmill.job.train;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.job.balance.Balance;
import org.draftmill.job.console.Text;

/**
 * What came out of a run: {@code summary.json}. Where a number is not known it is null.
 *
 * @param jobs that were trained
 * @param deadLetters jobs that were given up, see {@code dead-letter/}
 * @param skippedSteps that changed nothing, for a loss or gradient was not finite
 * @param seconds of training, from step to step, all processes of the run together
 * @param targetBusy share of the time in which a target was at work
 * @param drafterBusy share of the time in which a drafter was at work
 * @param poolStallSeconds in which drafters waited for the pool to have enough to mix
 * @param balance of targets and drafters: which bounds the run, and the best split
 * @param tauBefore acceptance length of the untrained drafter, pooled over all rounds
 * @param tauAfter of the trained one
 * @param greedyEqual whether speculative output was the target's own, token for token
 * @param drafter folder of the trained drafter
 * @param weightsSha256 SHA-256 of the file {@code model.safetensors} in that folder: of the
 *     exported bfloat16 weights with their header, not of the fp32 masters
 */
@JsonInclude
public record Summary(
    long steps,
    long jobs,
    long deadLetters,
    long skippedSteps,
    long tokens,
    double seconds,
    double tokensPerSecond,
    Double targetBusy,
    Double drafterBusy,
    Double poolStallSeconds,
    Balance.Figures balance,
    Double tauBefore,
    Double tauAfter,
    Boolean greedyEqual,
    String drafter,
    String weightsSha256) {

  /** The same with what an evaluation found. */
  public Summary withEvaluation(double before, double after, Boolean equal) {
    return new Summary(
        steps,
        jobs,
        deadLetters,
        skippedSteps,
        tokens,
        seconds,
        tokensPerSecond,
        targetBusy,
        drafterBusy,
        poolStallSeconds,
        balance,
        before,
        after,
        equal,
        drafter,
        weightsSha256);
  }

  /** Writes the file whole or not at all. */
  public void write(Path file) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    Files.writeString(unfinished, json().writeValueAsString(this) + "\n");
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  public static Summary read(Path file) throws IOException {
    try {
      return json().readValue(file.toFile(), Summary.class);
    } catch (JacksonException e) {
      throw new InputException(
          "%s is damaged: %s. Delete it, and the same command writes it again."
              .formatted(file, e.getOriginalMessage()),
          e);
    }
  }

  private static ObjectMapper json() {
    return new ObjectMapper()
        .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .enable(SerializationFeature.INDENT_OUTPUT);
  }

  /** How fast a run was, and what it left out, in lines. */
  public List<String> report() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s steps, %s jobs, %s tokens in %s: %s tokens/s"
            .formatted(
                Text.count(steps()),
                Text.count(jobs()),
                Text.count(tokens()),
                Text.duration(Duration.ofMillis((long) (1000 * seconds()))),
                Text.shortCount(tokensPerSecond())));
    lines.add("busy: targets %s, drafters %s".formatted(share(targetBusy()), share(drafterBusy())));
    if (deadLetters > 0) {
      lines.add(
          "left out: %s, see dead-letter/ in the run directory"
              .formatted(Text.count(deadLetters, "job")));
    }
    if (skippedSteps > 0) {
      lines.add(
          "skipped: %s, for a loss or gradient was not finite; log/training-*.jsonl says which"
              .formatted(Text.count(skippedSteps, "step")));
    }
    return lines;
  }

  private static String share(Double value) {
    return value == null ? "unknown" : Text.percent(value);
  }
}
