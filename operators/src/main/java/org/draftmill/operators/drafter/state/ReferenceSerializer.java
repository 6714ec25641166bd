package org.draftmill.operators.drafter.state;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Serializes a {@link PendingReference}. Its {@code copy}, called while the task waits, returns the
 * same reference; {@code serialize}, called by the checkpoint's thread, waits for the file.
 */
public final class ReferenceSerializer extends TypeSerializerSingleton<PendingReference> {
  private static final long serialVersionUID = 1L;

  public static final ReferenceSerializer INSTANCE = new ReferenceSerializer();

  private ReferenceSerializer() {}

  /** Whether a stored reference begins with these four bytes. */
  public static boolean isReference(int first) {
    return first == ReferenceFormat.MAGIC;
  }

  @Override
  public boolean isImmutableType() {
    return true;
  }

  @Override
  public PendingReference createInstance() {
    return new PendingReference(new CompletableFuture<>());
  }

  @Override
  public PendingReference copy(PendingReference from) {
    return from;
  }

  @Override
  public PendingReference copy(PendingReference from, PendingReference reuse) {
    return from;
  }

  @Override
  public int getLength() {
    return -1;
  }

  @Override
  public void serialize(PendingReference pending, DataOutputView target) throws IOException {
    ReferenceFormat.write(pending.get(), target);
  }

  @Override
  public PendingReference deserialize(DataInputView source) throws IOException {
    return new PendingReference(CompletableFuture.completedFuture(ReferenceFormat.read(source)));
  }

  @Override
  public PendingReference deserialize(PendingReference reuse, DataInputView source)
      throws IOException {
    return deserialize(source);
  }

  @Override
  public void copy(DataInputView source, DataOutputView target) throws IOException {
    ReferenceFormat.write(ReferenceFormat.read(source), target);
  }

  @Override
  public TypeSerializerSnapshot<PendingReference> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format itself carries its version. */
  public static final class Snapshot extends SimpleTypeSerializerSnapshot<PendingReference> {
    public Snapshot() {
      super(() -> INSTANCE);
    }
  }
}
