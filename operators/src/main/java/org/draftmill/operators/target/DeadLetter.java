package org.draftmill.operators.target;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.OutputTag;
import org.draftmill.operators.jobs.ExtractionJob;

/**
 * A job that was given up. A tombstone takes its place in the stream.
 *
 * @param position of the job in the run
 * @param epoch from 0
 * @param index in the epoch's list
 * @param bucket length bucket
 * @param sequences ids of its sequences
 * @param attempts forward passes that were tried
 * @param reason why the last one was of no use
 */
public record DeadLetter(
    long position,
    int epoch,
    int index,
    int bucket,
    long[] sequences,
    int attempts,
    String reason) {
  /** The side output of the target. */
  public static final OutputTag<DeadLetter> OUTPUT =
      new OutputTag<>("dead-letters", TypeInformation.of(DeadLetter.class));

  private static final ObjectMapper JSON = new ObjectMapper();

  static DeadLetter of(ExtractionJob job, int attempts, String reason) {
    return new DeadLetter(
        job.position(),
        job.epoch(),
        job.index(),
        job.bucket(),
        job.sequenceIds(),
        attempts,
        reason);
  }

  /**
   * Positions of the letters whose files are complete; one that makes no sense is no letter.
   *
   * @param directory that may be absent
   */
  static Set<Long> positions(Path directory) throws IOException {
    Set<Long> positions = new HashSet<>();
    if (!Files.isDirectory(directory)) {
      return positions;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "[!.]*.jsonl")) {
      for (Path file : files) {
        // Not as text: bytes that are none must not end a run that has no other use for them.
        new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
            .lines()
            .forEach(line -> position(line).ifPresent(positions::add));
      }
    }
    return positions;
  }

  private static OptionalLong position(String line) {
    try {
      JsonNode position = JSON.readTree(line).path("position");
      return position.isIntegralNumber()
          ? OptionalLong.of(position.asLong())
          : OptionalLong.empty();
    } catch (JsonProcessingException e) {
      return OptionalLong.empty();
    }
  }

  /** One line for the files below {@code dead-letter/}. */
  public String toJson() {
    try {
      return JSON.writeValueAsString(this);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
