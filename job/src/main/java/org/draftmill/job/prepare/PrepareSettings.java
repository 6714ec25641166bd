package org.draftmill.job.prepare;

import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.List;

/**
 * What to prepare.
 *
 * @param target folder of the model whose tokenizer and chat template are used
 * @param inputs files and directories, in the order of the sequences
 * @param out directory of the dataset
 * @param maxLength the most tokens of a sequence; 0 for no limit
 * @param parallelism subtasks; the dataset does not depend on it
 * @param now what templates that ask for the time are told
 * @param maxUnpackRatio how many times larger than a compressed file its content may be
 */
public record PrepareSettings(
    Path target,
    List<Path> inputs,
    Path out,
    int maxLength,
    int parallelism,
    ZonedDateTime now,
    int maxUnpackRatio) {
  public PrepareSettings {
    inputs = List.copyOf(inputs);
  }

  /** With the limits of files that come from anywhere. */
  public PrepareSettings(
      Path target, List<Path> inputs, Path out, int maxLength, int parallelism, ZonedDateTime now) {
    this(target, inputs, out, maxLength, parallelism, now, UnpackedStream.RATIO);
  }

  /** Where the parts lie until the dataset is whole. */
  Path work() {
    return out.resolve(".prepare");
  }

  Path shards() {
    return work().resolve("shards");
  }

  Path rejects() {
    return work().resolve("rejects");
  }
}
