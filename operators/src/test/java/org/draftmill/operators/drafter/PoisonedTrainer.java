package org.draftmill.operators.drafter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Set;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.drafter.HiddenRows;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.compute.drafter.MicrobatchFigures;
import org.draftmill.compute.drafter.StepFigures;

/** Trains, but finds a hidden state that is not a number in the jobs of some positions. */
record PoisonedTrainer(Trainer trainer, Set<Long> positions) implements Trainer {
  @Override
  public MicrobatchFigures accumulate(Microbatch microbatch) {
    boolean poisoned = positions.contains(microbatch.sequenceIds()[0] / 10);
    return trainer.accumulate(poisoned ? poisoned(microbatch) : microbatch);
  }

  private static Microbatch poisoned(Microbatch sound) {
    List<HiddenRows> hidden =
        sound.hidden().stream()
            .map(
                rows ->
                    new HiddenRows(
                        rows.firstRow(),
                        rows.rows(),
                        notNumbers(rows.taps()),
                        rows.finalStates(),
                        rows.dtype()))
            .toList();
    return new Microbatch(
        sound.epoch(),
        sound.sequenceIds(),
        sound.documentStarts(),
        sound.inputIds(),
        sound.lossMask(),
        hidden);
  }

  private static ByteBuffer notNumbers(ByteBuffer taps) {
    ByteBuffer copy = ByteBuffer.allocate(taps.remaining()).order(ByteOrder.LITTLE_ENDIAN);
    while (copy.hasRemaining()) {
      copy.putFloat(Float.NaN);
    }
    return copy.flip();
  }

  @Override
  public void tombstone() {
    trainer.tombstone();
  }

  @Override
  public StepFigures step(Collective collective) throws IOException {
    return trainer.step(collective);
  }

  @Override
  public void close() {
    trainer.close();
  }
}
