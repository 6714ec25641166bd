package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.draftmill.compute.DType;
import org.draftmill.compute.drafter.HiddenRows;
import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;
import org.junit.jupiter.api.Test;

class MicrobatchAssemblerTest {
  private static final int COLUMNS = TestingTarget.TAPS.size() * TestingTarget.HIDDEN;

  private final MicrobatchAssembler assembler = new MicrobatchAssembler(COLUMNS, 0);

  @Test
  void chunksOfJobsThatInterleaveBecomeTheirMicrobatches() {
    List<HiddenStateChunk> one = TestingDeliveries.chunks(5);
    List<HiddenStateChunk> other = TestingDeliveries.chunks(2);
    assertThat(one).hasSizeGreaterThan(2);
    assertThat(other).hasSizeGreaterThan(2);

    for (int chunk = 0; chunk < one.size() - 1; chunk++) {
      assertThat(assembler.add(Delivery.of(0, 3, one.get(chunk)))).isEmpty();
    }
    assertThat(assembler.incomplete()).containsExactly(TestingDeliveries.job(5));
    Optional<ReceivedMicrobatch> second = Optional.empty();
    for (HiddenStateChunk chunk : other) {
      second = assembler.add(Delivery.of(0, 3, chunk));
    }
    Optional<ReceivedMicrobatch> first = assembler.add(Delivery.of(0, 3, one.get(one.size() - 1)));

    assertThat(assembler.incomplete()).isEmpty();
    check(first.orElseThrow(), 5, one);
    check(second.orElseThrow(), 2, other);
  }

  private static void check(
      ReceivedMicrobatch received, long position, List<HiddenStateChunk> chunks) {
    assertThat(received.step()).isEqualTo(3);
    assertThat(received.job()).isEqualTo(TestingDeliveries.job(position));
    Microbatch microbatch = received.microbatch();
    assertThat(microbatch.documents()).isEqualTo((int) (1 + position % 3));
    assertThat(microbatch.documentStarts()).startsWith(0).endsWith(microbatch.rows());
    assertThat(microbatch.sequenceIds()[0]).isEqualTo(position * 10);
    int row = 0;
    for (int chunk = 0; chunk < chunks.size(); chunk++) {
      HiddenRows rows = microbatch.hidden().get(chunk);
      assertThat(rows.firstRow()).isEqualTo(row);
      assertThat(rows.dtype()).isEqualTo(DType.F32);
      assertThat(rows.finalStates()).isNull();
      assertThat(rows.taps()).isEqualTo(chunks.get(chunk).taps());
      ByteBuffer mask = chunks.get(chunk).lossMask();
      ByteBuffer ids = chunks.get(chunk).inputIds();
      for (int i = 0; i < rows.rows(); i++, row++) {
        assertThat(microbatch.inputIds()[row]).isEqualTo(ids.getInt());
        assertThat(microbatch.lossMask()[row]).isEqualTo(mask.get());
      }
    }
    assertThat(row).isEqualTo(microbatch.rows());
  }

  @Test
  void finalStatesComeAlongWhereTheyAreRead() {
    MicrobatchAssembler soft = new MicrobatchAssembler(COLUMNS, TestingTarget.HIDDEN);
    Optional<ReceivedMicrobatch> received = Optional.empty();
    List<HiddenStateChunk> chunks = TestingDeliveries.chunks(1, true, true);
    for (HiddenStateChunk chunk : chunks) {
      received = soft.add(Delivery.of(0, 0, chunk));
    }
    assertThat(received.orElseThrow().microbatch().hidden())
        .extracting(HiddenRows::finalStates)
        .containsExactlyElementsOf(chunks.stream().map(HiddenStateChunk::finalStates).toList());
  }

  @Test
  void aChunkThatDoesNotContinueItsJobIsNamed() {
    List<HiddenStateChunk> chunks = TestingDeliveries.chunks(4);
    assembler.add(Delivery.of(0, 1, chunks.get(0)));
    assertThatThrownBy(() -> assembler.add(Delivery.of(0, 1, chunks.get(0))))
        .hasMessageContaining("job 4")
        .hasMessageContaining("does not continue its job: expected was chunk 1/");
    assertThatThrownBy(() -> assembler.add(Delivery.of(0, 2, chunks.get(1))))
        .hasMessageContaining("of step 2 does not continue its job");
  }

  @Test
  void otherColumnsAreRefused() {
    assertThatThrownBy(
            () ->
                new MicrobatchAssembler(COLUMNS + 16, 0)
                    .add(Delivery.of(0, 0, TestingDeliveries.chunks(0).get(0))))
        .hasMessageContaining("has 32 tap columns and 0 final columns, but the drafter reads 48");
    assertThatThrownBy(
            () ->
                new MicrobatchAssembler(COLUMNS, 16)
                    .add(Delivery.of(0, 0, TestingDeliveries.chunks(0).get(0))))
        .hasMessageContaining("different taps or loss settings");
  }
}
