package org.draftmill.job.prepare;

import org.apache.flink.streaming.api.functions.sink.filesystem.PartFileInfo;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.CheckpointRollingPolicy;

/** Begins a new file with the first row of each range; a subtask reads its ranges one by one. */
final class OneFilePerRange<T extends Ranged> extends CheckpointRollingPolicy<T, String> {
  @Override
  public boolean shouldRollOnEvent(PartFileInfo<String> file, T row) {
    return row.first();
  }

  @Override
  public boolean shouldRollOnProcessingTime(PartFileInfo<String> file, long now) {
    return false;
  }
}
