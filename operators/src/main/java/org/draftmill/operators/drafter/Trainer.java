package org.draftmill.operators.drafter;

import java.io.IOException;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;

/**
 * What the stream asks of a drafter's training: {@link
 * org.draftmill.compute.drafter.DrafterTrainer} on a device, or something quicker in a test. One
 * thread at a time.
 */
interface Trainer extends AutoCloseable {
  MicrobatchFigures accumulate(Microbatch microbatch);

  void tombstone();

  StepFigures step(Collective collective) throws IOException;

  @Override
  void close();
}
