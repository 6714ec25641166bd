package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.draftmill.serializers.JobId;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

class ReferenceSerializerTest {
  private static final SnapshotReference REFERENCE =
      new SnapshotReference(
          "drafter/step-00000120/checkpoint-7.1a2b3c4d.0-of-2.safetensors",
          4_000_000_000L,
          0xCAFEBABEL,
          0,
          2,
          120,
          3,
          List.of(
              StepMarker.of(
                  120, 1, List.of(new StepMarker.Release(new JobId(1441, 2, 7, 3), true)))),
          new RunIdentity(Map.of("run.seed", "42")));

  private static byte[] bytes(SnapshotReference reference) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    ReferenceSerializer.INSTANCE.serialize(
        new PendingReference(CompletableFuture.completedFuture(reference)), out);
    return out.getCopyOfBuffer();
  }

  private static SnapshotReference read(byte[] bytes) throws IOException {
    return ReferenceSerializer.INSTANCE.deserialize(new DataInputDeserializer(bytes)).get();
  }

  @Test
  void readsWhatItWrote() throws Exception {
    assertThat(read(bytes(REFERENCE))).isEqualTo(REFERENCE);
  }

  @Test
  void readsVersion2() throws Exception {
    assertThat(read(resource("reference-v2.bin"))).isEqualTo(REFERENCE);
  }

  @Test
  void readsVersion1WhichDidNotCountSkippedSteps() throws Exception {
    SnapshotReference read = read(resource("reference-v1.bin"));

    assertThat(read.skipped()).isZero();
    assertThat(read.path()).isEqualTo(REFERENCE.path());
    assertThat(read.step()).isEqualTo(REFERENCE.step());
    assertThat(read.markers()).isEqualTo(REFERENCE.markers());
    assertThat(read.identity()).isEqualTo(REFERENCE.identity());
  }

  private byte[] resource(String name) throws IOException {
    try (InputStream stored = getClass().getResourceAsStream(name)) {
      return stored.readAllBytes();
    }
  }

  @Test
  void anotherVersionIsNamed() throws Exception {
    byte[] bytes = bytes(REFERENCE);
    bytes[7] = 9;
    assertThatThrownBy(() -> read(bytes))
        .isInstanceOf(IOException.class)
        .hasMessage("The drafter's state is of version 9; this build reads versions 1 to 2.");
    bytes[0] = 0;
    assertThatThrownBy(() -> read(bytes)).hasMessageContaining("not of a drafter");
  }

  @Test
  void serializingWaitsForTheFile() throws Exception {
    CompletableFuture<SnapshotReference> file = new CompletableFuture<>();
    PendingReference pending = new PendingReference(file);
    assertThat(ReferenceSerializer.INSTANCE.copy(pending)).isSameAs(pending);
    CompletableFuture<byte[]> serialized =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                DataOutputSerializer out = new DataOutputSerializer(64);
                ReferenceSerializer.INSTANCE.serialize(pending, out);
                return out.getCopyOfBuffer();
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    assertThat(serialized).isNotDone();
    file.complete(REFERENCE);
    assertThat(serialized.get()).isEqualTo(bytes(REFERENCE));
  }

  @Test
  void aFileThatCannotBeWrittenFailsTheCheckpoint() {
    PendingReference failed =
        new PendingReference(CompletableFuture.failedFuture(new IOException("disk full")));
    assertThatThrownBy(
            () -> ReferenceSerializer.INSTANCE.serialize(failed, new DataOutputSerializer(64)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("disk full");
    CompletableFuture<SnapshotReference> aborted = new CompletableFuture<>();
    aborted.cancel(false);
    assertThatThrownBy(() -> new PendingReference(aborted).get())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("aborted");
  }
}
