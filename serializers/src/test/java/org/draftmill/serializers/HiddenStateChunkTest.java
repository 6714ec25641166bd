package org.draftmill.serializers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.util.List;
import org.junit.jupiter.api.Test;

class HiddenStateChunkTest {
  private static final JobId JOB = new JobId(123_456_789_012L, 3, 17, 2);
  private static final List<HiddenStateChunk.Document> DOCUMENTS =
      List.of(
          new HiddenStateChunk.Document(70_000_000_000L, 0, 2),
          new HiddenStateChunk.Document(5, 2, 9));

  /** Rows 0 to 3 of 11. */
  private static HiddenStateChunk.Shape shape() {
    return new HiddenStateChunk.Shape(0, 3, 0, 3, 11, 4, 2, HiddenDType.BFLOAT16);
  }

  private static HiddenStateChunk filled() {
    HiddenStateChunk.Builder builder = HiddenStateChunk.builder(JOB, shape(), DOCUMENTS);
    builder.inputIds().asIntBuffer().put(new int[] {7, 151_935, 9});
    builder.lossMask().put(new byte[] {0, 1, 1});
    builder.taps().asShortBuffer().put(11, (short) 0x3f80);
    builder.finalStates().putShort(10, (short) 0x4049);
    return builder.build();
  }

  @Test
  void givesBackWhatWasWrittenIntoIt() {
    HiddenStateChunk chunk = filled();

    assertThat(chunk.job()).isEqualTo(JOB);
    assertThat(chunk.position()).isEqualTo(JOB.position());
    assertThat(chunk.isTombstone()).isFalse();
    assertThat(chunk.reason()).isEmpty();
    assertThat(List.of(chunk.chunk(), chunk.chunks())).containsExactly(0, 3);
    assertThat(List.of(chunk.firstRow(), chunk.rows(), chunk.rowsOfJob()))
        .containsExactly(0, 3, 11);
    assertThat(List.of(chunk.tapColumns(), chunk.finalColumns())).containsExactly(4, 2);
    assertThat(chunk.dtype()).isEqualTo(HiddenDType.BFLOAT16);
    assertThat(chunk.documents()).isEqualTo(DOCUMENTS);
    int[] ids = new int[3];
    chunk.inputIds().asIntBuffer().get(ids);
    assertThat(ids).containsExactly(7, 151_935, 9);
    assertThat(chunk.lossMask().get(2)).isEqualTo((byte) 1);
    assertThat(chunk.taps().remaining()).isEqualTo(3 * 4 * 2);
    assertThat(chunk.taps().getShort(22)).isEqualTo((short) 0x3f80);
    assertThat(chunk.finalStates().remaining()).isEqualTo(3 * 2 * 2);
    assertThat(chunk.finalStates().getShort(10)).isEqualTo((short) 0x4049);
  }

  @Test
  void isReadOnlyAndLittleEndian() {
    HiddenStateChunk chunk = filled();

    for (ByteBuffer part :
        List.of(
            chunk.inputIds(),
            chunk.lossMask(),
            chunk.taps(),
            chunk.finalStates(),
            chunk.record())) {
      assertThat(part.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
      assertThatThrownBy(() -> part.put(0, (byte) 1)).isInstanceOf(ReadOnlyBufferException.class);
    }
  }

  @Test
  void sizeIsWhatTheFormatSays() {
    HiddenStateChunk chunk = filled();

    assertThat((long) chunk.sizeInBytes())
        .isEqualTo(HiddenStateChunkFormat.bytes(3, 4, 2, HiddenDType.BFLOAT16, 2))
        .isEqualTo(72 + 2 * 16 + 16 + 8 + 24 + 16);
  }

  @Test
  void asManyRowsFitAsTheFormatSays() {
    for (int chunkBytes : new int[] {150, 4 << 10, 64 << 10, 4 << 20}) {
      for (int columns : new int[] {1, 7, 320, 20_480}) {
        int rows = HiddenStateChunkFormat.rowsThatFit(chunkBytes, columns, 3, HiddenDType.BFLOAT16);

        assertThat(HiddenStateChunkFormat.bytes(rows, columns, 3, HiddenDType.BFLOAT16, rows))
            .as("%d rows of %d columns", rows, columns)
            .isLessThanOrEqualTo(Math.max(chunkBytes, HiddenStateChunkFormat.HEADER_BYTES));
        assertThat(
                HiddenStateChunkFormat.bytes(rows + 2, columns, 3, HiddenDType.BFLOAT16, rows + 2))
            .isGreaterThan(chunkBytes);
      }
    }
  }

  @Test
  void aBuiltChunkCannotBeWrittenToAgain() {
    HiddenStateChunk.Builder builder = HiddenStateChunk.builder(JOB, shape(), DOCUMENTS);
    builder.build();

    assertThatThrownBy(builder::taps).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(builder::build).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refusesShapesThatContradictThemselves() {
    assertRefused(new HiddenStateChunk.Shape(0, 3, 0, 0, 11, 4, 0, HiddenDType.FLOAT32), DOCUMENTS);
    assertRefused(
        new HiddenStateChunk.Shape(0, 3, 0, 12, 11, 4, 0, HiddenDType.FLOAT32), DOCUMENTS);
    assertRefused(new HiddenStateChunk.Shape(0, 1, 0, 3, 11, 4, 0, HiddenDType.FLOAT32), DOCUMENTS);
    assertRefused(new HiddenStateChunk.Shape(1, 3, 0, 3, 11, 4, 0, HiddenDType.FLOAT32), DOCUMENTS);
    assertRefused(new HiddenStateChunk.Shape(0, 3, 0, 3, 11, 0, 0, HiddenDType.FLOAT32), DOCUMENTS);
    assertThatThrownBy(() -> new HiddenStateChunk.Shape(0, 3, 0, -3, 11, 4, 0, HiddenDType.FLOAT32))
        .isInstanceOf(IllegalArgumentException.class);
    assertRefused(
        new HiddenStateChunk.Shape(0, 1, 0, 1 << 20, 1 << 20, 1 << 20, 0, HiddenDType.FLOAT32),
        List.of(new HiddenStateChunk.Document(1, 0, 1 << 20)));
  }

  @Test
  void refusesDocumentsThatDoNotCoverTheRows() {
    assertRefused(shape(), List.of());
    assertRefused(shape(), List.of(new HiddenStateChunk.Document(1, 1, 10)));
    assertRefused(shape(), List.of(new HiddenStateChunk.Document(1, 0, 12)));
    assertRefused(shape(), List.of(new HiddenStateChunk.Document(1, 0, 2)));
    assertRefused(
        shape(),
        List.of(new HiddenStateChunk.Document(1, 0, 1), new HiddenStateChunk.Document(2, 2, 9)));
    assertRefused(
        shape(),
        List.of(new HiddenStateChunk.Document(1, 0, 3), new HiddenStateChunk.Document(2, 3, 8)));
  }

  private static void assertRefused(
      HiddenStateChunk.Shape shape, List<HiddenStateChunk.Document> documents) {
    assertThatThrownBy(() -> HiddenStateChunk.builder(JOB, shape, documents))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTombstoneKeepsThePlaceAndTheReason() {
    HiddenStateChunk tombstone =
        HiddenStateChunk.tombstone(JOB, 11, "The forward pass gave NaN in layer 3 – thrice.");

    assertThat(tombstone.isTombstone()).isTrue();
    assertThat(tombstone.job()).isEqualTo(JOB);
    assertThat(tombstone.reason()).isEqualTo("The forward pass gave NaN in layer 3 – thrice.");
    assertThat(tombstone.chunks()).isEqualTo(1);
    assertThat(tombstone.rows()).isZero();
    assertThat(tombstone.rowsOfJob()).isEqualTo(11);
    assertThat(tombstone.documents()).isEmpty();
    assertThat(tombstone.taps().remaining()).isZero();
    assertThatThrownBy(() -> Delivery.of(0, 1, tombstone))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
