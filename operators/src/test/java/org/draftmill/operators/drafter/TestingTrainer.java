package org.draftmill.operators.drafter;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;

/** Counts instead of training, as fast as a test lets it. */
final class TestingTrainer implements Trainer {
  final List<String> done = new ArrayList<>();
  final CountDownLatch entered = new CountDownLatch(1);
  final Semaphore permits = new Semaphore(0);
  volatile RuntimeException failure;
  volatile boolean skips;
  private long step;
  private long[] counts = new long[2]; // microbatches, tombstones
  private long rows;

  /** A trainer that works without being let. */
  static TestingTrainer quick() {
    TestingTrainer trainer = new TestingTrainer();
    trainer.permits.release(1_000_000);
    return trainer;
  }

  @Override
  public MicrobatchFigures accumulate(Microbatch microbatch) {
    entered.countDown();
    try {
      permits.acquire();
    } catch (InterruptedException e) {
      throw new IllegalStateException("interrupted", e);
    }
    if (failure != null) {
      throw failure;
    }
    counts[0]++;
    rows += microbatch.rows();
    done.add("microbatch " + microbatch.sequenceIds()[0] / 10);
    return new MicrobatchFigures(microbatch.rows(), 1, 1, 1, 1, 1, 1, false, 0.25, 0.5);
  }

  @Override
  public void tombstone() {
    counts[1]++;
  }

  @Override
  public StepFigures step(Collective collective) throws IOException {
    collective.allReduce(counts);
    done.add("step " + step);
    StepFigures figures =
        new StepFigures(
            step++,
            2.5,
            0.5,
            new double[] {0.75, Double.NaN},
            1.5,
            1e-3,
            Double.NaN,
            counts[0],
            counts[1],
            rows,
            7,
            skips,
            0.125,
            0.0625);
    counts = new long[2];
    rows = 0;
    return figures;
  }

  @Override
  public void close() {}
}
