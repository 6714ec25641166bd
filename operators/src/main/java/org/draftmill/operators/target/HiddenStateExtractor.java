package org.draftmill.operators.target;

import java.io.IOException;
import java.io.Serializable;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.jobs.ExtractionJob;

/** What a target does with a job. The two parts run on a thread each, for different jobs. */
public interface HiddenStateExtractor extends AutoCloseable {
  /** Reads the tokens of a job and packs them. */
  PackedBatch prepare(ExtractionJob job) throws IOException;

  /**
   * Runs the target. An unchecked exception, but for an {@link
   * org.draftmill.compute.InputException}, and a result that is not finite speak against this job
   * only: it is tried again and then given up.
   */
  HiddenStates forward(PackedBatch batch) throws InterruptedException;

  /** What the device has spent so far; any thread may ask, also when this is closed. */
  DeviceSeconds deviceSeconds();

  /**
   * What a target's device has spent on its work, in seconds; work that is not yet done is in a
   * later answer. On a host these are the times that the calls took.
   *
   * @param forward layers, and looking for values that are not finite
   * @param encode rounding hidden states and copying them to the host, beside the next forward pass
   */
  record DeviceSeconds(double forward, double encode) {}

  /** Called once, when no other method runs any more; results may still be out. */
  @Override
  void close();

  /** Opens the extractor of a subtask. */
  @FunctionalInterface
  interface Factory extends Serializable {
    /**
     * @param device to compute on; the caller gives it back after the extractor is closed
     */
    HiddenStateExtractor open(TargetSettings settings, DeviceLease device) throws IOException;
  }
}
