package org.draftmill.operators.drafter;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.JobId;
import org.draftmill.serializers.StepMarker;

/**
 * Jobs with made-up hidden states: everything about a job follows from its position, so that two
 * runs see the same whoever makes it.
 */
final class TestingDeliveries {
  private static final int CHUNK_BYTES = 4 << 10;

  private TestingDeliveries() {}

  static JobId job(long position) {
    return new JobId(position, 0, (int) position, (int) (position % 3));
  }

  /** Chunks of at most 4 KB of a job over {@link TestingTarget}. */
  static List<HiddenStateChunk> chunks(long position, boolean supervised, boolean finalStates) {
    Random random = new Random(1_000 + position);
    List<HiddenStateChunk.Document> documents = new ArrayList<>();
    int rows = 0;
    for (int d = 0; d < 1 + position % 3; d++) {
      int length = 12 + random.nextInt(20);
      documents.add(new HiddenStateChunk.Document(position * 10 + d, rows, length));
      rows += length;
    }
    int tapColumns = TestingTarget.TAPS.size() * TestingTarget.HIDDEN;
    int finalColumns = finalStates ? TestingTarget.HIDDEN : 0;
    int rowsOfChunk = Math.max(1, (CHUNK_BYTES - 1024) / (4 * (tapColumns + finalColumns) + 5));
    int chunks = (rows + rowsOfChunk - 1) / rowsOfChunk;
    List<HiddenStateChunk> made = new ArrayList<>();
    for (int chunk = 0; chunk < chunks; chunk++) {
      int first = chunk * rowsOfChunk;
      int count = Math.min(rowsOfChunk, rows - first);
      HiddenStateChunk.Builder builder =
          HiddenStateChunk.builder(
              job(position),
              new HiddenStateChunk.Shape(
                  chunk, chunks, first, count, rows, tapColumns, finalColumns, HiddenDType.FLOAT32),
              documents.stream()
                  .filter(d -> d.firstRow() >= first && d.firstRow() < first + count)
                  .toList());
      ByteBuffer ids = builder.inputIds();
      ByteBuffer mask = builder.lossMask();
      ByteBuffer taps = builder.taps();
      for (int row = 0; row < count; row++) {
        ids.putInt(random.nextInt(TestingTarget.VOCABULARY - 1));
        mask.put((byte) (supervised && random.nextInt(4) > 0 ? 1 : 0));
        for (int column = 0; column < tapColumns; column++) {
          taps.putFloat((float) random.nextGaussian());
        }
      }
      ByteBuffer last = builder.finalStates();
      while (last.hasRemaining()) {
        last.putFloat((float) random.nextGaussian());
      }
      made.add(builder.build());
    }
    return made;
  }

  static List<HiddenStateChunk> chunks(long position) {
    return chunks(position, true, false);
  }

  static ReceivedMicrobatch microbatch(long step, long position) {
    MicrobatchAssembler assembler =
        new MicrobatchAssembler(TestingTarget.TAPS.size() * TestingTarget.HIDDEN, 0);
    ReceivedMicrobatch received = null;
    for (HiddenStateChunk chunk : chunks(position)) {
      received = assembler.add(Delivery.of(0, step, chunk)).orElse(null);
    }
    return received;
  }

  static StepMarker marker(long step, int shard, long... positions) {
    List<StepMarker.Release> releases = new ArrayList<>();
    for (long position : positions) {
      releases.add(new StepMarker.Release(job(position), false));
    }
    return StepMarker.of(step, shard, releases);
  }
}
