package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.HiddenStateChunkFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkPackerTest {
  private static final ExtractionJob JOB = TestingExtractor.job(3, 40, 40, 40, 47);
  private static final PackedBatch BATCH = TestingExtractor.batch(JOB);

  private static HiddenStates states() {
    try {
      return new TestingExtractor().forward(BATCH);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {200, 500, 4 << 10, 4 << 20})
  void theChunksOfAJobHoldItsRowsInOrder(long chunkBytes) {
    List<HiddenStateChunk> chunks =
        new ChunkPacker(chunkBytes, HiddenDType.FLOAT32).pack(BATCH, states()).orElseThrow();

    int row = 0;
    List<HiddenStateChunk.Document> documents = new ArrayList<>();
    for (HiddenStateChunk chunk : chunks) {
      assertThat((long) chunk.sizeInBytes()).isLessThanOrEqualTo(chunkBytes);
      assertThat(chunk.job()).isEqualTo(JOB.id());
      assertThat(chunk.chunks()).isEqualTo(chunks.size());
      assertThat(chunk.firstRow()).isEqualTo(row);
      assertThat(chunk.rowsOfJob()).isEqualTo(BATCH.rows());
      documents.addAll(chunk.documents());
      for (int r = 0; r < chunk.rows(); r++, row++) {
        int token = chunk.inputIds().getInt(4 * r);
        assertThat(token).isEqualTo(BATCH.inputIds()[row]);
        assertThat(chunk.lossMask().get(r)).isEqualTo(BATCH.lossMask()[row]);
        int lastTap = 4 * (r * TestingExtractor.TAP_COLUMNS + TestingExtractor.TAP_COLUMNS - 1);
        assertThat(chunk.taps().getFloat(lastTap)).isEqualTo(token);
        assertThat(chunk.finalStates().getFloat(4 * r * TestingExtractor.FINAL_COLUMNS))
            .isEqualTo(-token);
      }
    }
    assertThat(row).isEqualTo(BATCH.rows());
    assertThat(documents)
        .containsExactly(
            new HiddenStateChunk.Document(3000, 0, 41),
            new HiddenStateChunk.Document(3001, 41, 41),
            new HiddenStateChunk.Document(3002, 82, 41),
            new HiddenStateChunk.Document(3003, 123, 44));
  }

  @Test
  void manyRowsMakeManyChunks() {
    long oneRow =
        HiddenStateChunkFormat.smallestChunk(
            TestingExtractor.TAP_COLUMNS, TestingExtractor.FINAL_COLUMNS, HiddenDType.FLOAT32);

    assertThat(new ChunkPacker(oneRow, HiddenDType.FLOAT32).pack(BATCH, states()).orElseThrow())
        .hasSize(BATCH.rows());
    assertThatThrownBy(() -> new ChunkPacker(oneRow - 1, HiddenDType.FLOAT32).pack(BATCH, states()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot hold a row");
  }

  @Test
  void statesThatOverflowFloat16AreOfNoUse() {
    ChunkPacker packer = new ChunkPacker(4 << 10, HiddenDType.FLOAT16);

    assertThat(packer.pack(BATCH, new Float16States((short) 0x7bff))).isPresent();
    assertThat(packer.pack(BATCH, new Float16States((short) 0x7c00))).isEmpty();
    assertThat(packer.pack(BATCH, new Float16States((short) 0xfc00))).isEmpty();
  }

  /** One column, of which the last row has the given bits. */
  private record Float16States(short last) implements HiddenStates {
    @Override
    public boolean allFinite() {
      return true;
    }

    @Override
    public int tapColumns() {
      return 1;
    }

    @Override
    public int finalColumns() {
      return 0;
    }

    @Override
    public void encodeTaps(int from, int to, HiddenDType dtype, ByteBuffer destination) {
      for (int row = from; row < to; row++) {
        destination.putShort(row == BATCH.rows() - 1 ? last : 0);
      }
    }

    @Override
    public void encodeFinal(int from, int to, HiddenDType dtype, ByteBuffer destination) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {}
  }
}
