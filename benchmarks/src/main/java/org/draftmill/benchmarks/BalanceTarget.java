package org.draftmill.benchmarks;

import java.util.List;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;

/** A target that takes its time and yields 256 KB of nothing. */
final class BalanceTarget extends RichMapFunction<ExtractionJob, HiddenStateChunk> {
  private static final long serialVersionUID = 1L;
  private static final int ROWS = 8;
  private static final int COLUMNS = 16_384;

  private final int[] millis; // by subtask

  BalanceTarget(int[] millis) {
    this.millis = millis;
  }

  @Override
  public HiddenStateChunk map(ExtractionJob job) throws InterruptedException {
    Thread.sleep(millis[getRuntimeContext().getTaskInfo().getIndexOfThisSubtask()]);
    var shape = new HiddenStateChunk.Shape(0, 1, 0, ROWS, ROWS, COLUMNS, 0, HiddenDType.BFLOAT16);
    return HiddenStateChunk.builder(
            job.id(), shape, List.of(new HiddenStateChunk.Document(0, 0, ROWS)))
        .build();
  }
}
