package org.draftmill.job.run;

import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

/**
 * Writes checkpoints and savepoints without operators, and the files that drafters leave beside.
 */
public final class TestingStates {
  private TestingStates() {}

  /** {@code checkpoints/job/chk-ID} and the files of two drafters at the step. */
  public static Path checkpoint(RunDirectory run, long id, long step) throws IOException {
    drafters(run, "checkpoint-" + id, step);
    return metadata(run.checkpoints().resolve("job/chk-" + id), id);
  }

  /** {@code checkpoints/savepoint-ID} and the files of two drafters at the step. */
  public static Path savepoint(RunDirectory run, long id, long step) throws IOException {
    drafters(run, "savepoint-" + id, step);
    return metadata(run.checkpoints().resolve("savepoint-" + id), id);
  }

  /** Files of two drafters at a step. */
  public static void drafters(RunDirectory run, String snapshot, long step) throws IOException {
    Path directory = run.drafter().resolve("step-%08d".formatted(step));
    Files.createDirectories(directory);
    for (int rank = 0; rank < 2; rank++) {
      Files.createFile(directory.resolve(snapshot + ".1a2b." + rank + "-of-2.safetensors"));
    }
  }

  private static Path metadata(Path directory, long id) throws IOException {
    Files.createDirectories(directory);
    try (DataOutputStream out =
        new DataOutputStream(Files.newOutputStream(directory.resolve("_metadata")))) {
      Checkpoints.storeCheckpointMetadata(new CheckpointMetadata(id, List.of(), List.of()), out);
    }
    return directory;
  }
}
