package org.draftmill.benchmarks;

import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.util.Collector;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenStateChunk;

/** A target that takes its time and yields chunks of nothing. */
final class BalanceTarget extends RichFlatMapFunction<ExtractionJob, HiddenStateChunk> {
  private static final long serialVersionUID = 1L;

  private final BalanceScene scene;

  BalanceTarget(BalanceScene scene) {
    this.scene = scene;
  }

  @Override
  public void flatMap(ExtractionJob job, Collector<HiddenStateChunk> out)
      throws InterruptedException {
    Thread.sleep(scene.targetMillis()[getRuntimeContext().getTaskInfo().getIndexOfThisSubtask()]);
    for (int chunk = 0; chunk < scene.chunks(); chunk++) {
      out.collect(Chunks.of(job.position(), chunk, scene.chunks(), scene.chunkBytes()));
    }
  }
}
