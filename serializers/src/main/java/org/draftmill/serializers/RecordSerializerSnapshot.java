package org.draftmill.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Remembers in a checkpoint which version of a record's layout its state is written in. A build
 * reads that version and all before it.
 */
abstract class RecordSerializerSnapshot<T> implements TypeSerializerSnapshot<T> {
  private static final int VERSION = 1;

  private final RecordSerializer<T> serializer;
  private int formatVersion;

  RecordSerializerSnapshot(RecordSerializer<T> serializer) {
    this.serializer = serializer;
    this.formatVersion = serializer.formatVersion();
  }

  @Override
  public final int getCurrentVersion() {
    return VERSION;
  }

  @Override
  public final void writeSnapshot(DataOutputView out) throws IOException {
    out.writeInt(formatVersion);
  }

  @Override
  public final void readSnapshot(int version, DataInputView in, ClassLoader classLoader)
      throws IOException {
    switch (version) {
      case 1 -> formatVersion = in.readInt();
      default ->
          throw RecordEnvelope.unsupported(
              "The snapshot of the serializer of " + serializer.type().getSimpleName(),
              version,
              VERSION);
    }
  }

  @Override
  public final TypeSerializer<T> restoreSerializer() {
    return serializer;
  }

  @Override
  public final TypeSerializerSchemaCompatibility<T> resolveSchemaCompatibility(
      TypeSerializerSnapshot<T> old) {
    boolean readable =
        old.getClass() == getClass()
            && ((RecordSerializerSnapshot<T>) old).formatVersion <= serializer.formatVersion();
    return readable
        ? TypeSerializerSchemaCompatibility.compatibleAsIs()
        : TypeSerializerSchemaCompatibility.incompatible();
  }
}
