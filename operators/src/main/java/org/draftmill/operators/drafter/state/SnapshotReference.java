package org.draftmill.operators.drafter.state;

import java.util.List;
import org.draftmill.serializers.StepMarker;

/**
 * Where a checkpoint finds the state of one drafter: what Flink keeps of it.
 *
 * @param path of the file, relative to the run directory
 * @param bytes of the file
 * @param crc32c of the file
 * @param rank of the drafter that wrote it
 * @param size how many drafters wrote such files for the checkpoint
 * @param step the one that is open: number of steps taken
 * @param skipped steps of the run that changed nothing, for a value was not finite
 * @param markers of that step which had come, on every drafter the same
 * @param identity of the run
 */
public record SnapshotReference(
    String path,
    long bytes,
    long crc32c,
    int rank,
    int size,
    long step,
    long skipped,
    List<StepMarker> markers,
    RunIdentity identity) {
  public SnapshotReference {
    markers = List.copyOf(markers);
  }
}
