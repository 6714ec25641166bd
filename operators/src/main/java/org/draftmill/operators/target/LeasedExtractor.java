package org.draftmill.operators.target;

import java.io.IOException;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.jobs.ExtractionJob;

/**
 * An extractor that gives its device back when it is closed: nobody else may compute there before.
 */
record LeasedExtractor(HiddenStateExtractor extractor, DeviceLease lease)
    implements HiddenStateExtractor {

  /**
   * Opens an extractor on the device that {@code lease} is for. Owns the lease, also on failure.
   */
  static LeasedExtractor open(
      HiddenStateExtractor.Factory extractors, TargetSettings settings, DeviceLease lease)
      throws IOException {
    try {
      return new LeasedExtractor(extractors.open(settings, lease), lease);
    } catch (Throwable e) {
      lease.close();
      throw e;
    }
  }

  @Override
  public PackedBatch prepare(ExtractionJob job) throws IOException {
    return extractor.prepare(job);
  }

  @Override
  public HiddenStates forward(PackedBatch batch) throws InterruptedException {
    return extractor.forward(batch);
  }

  @Override
  public DeviceSeconds deviceSeconds() {
    return extractor.deviceSeconds();
  }

  @Override
  public void close() {
    try {
      extractor.close();
    } finally {
      lease.close();
    }
  }
}
