package org.draftmill.serializers;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * What the serializers of the immutable records share: an object is never copied, its bytes move in
 * bulk.
 */
abstract class RecordSerializer<T> extends TypeSerializer<T> {
  private static final long serialVersionUID = 1L;

  /** Where bytes go: a {@code DataOutputView} or a Kryo {@code Output}. */
  @FunctionalInterface
  interface Sink {
    void write(byte[] bytes, int offset, int length) throws IOException;
  }

  abstract Class<T> type();

  /** Version of the layout that {@link #write} produces; all before it can be read. */
  abstract int formatVersion();

  abstract void write(T value, Sink sink) throws IOException;

  abstract T read(RecordEnvelope.Source source) throws IOException;

  @Override
  public final void serialize(T value, DataOutputView target) throws IOException {
    write(value, target::write);
  }

  @Override
  public final T deserialize(DataInputView source) throws IOException {
    return read(source::readFully);
  }

  @Override
  public final T deserialize(T reuse, DataInputView source) throws IOException {
    return deserialize(source);
  }

  @Override
  public final void copy(DataInputView source, DataOutputView target) throws IOException {
    serialize(deserialize(source), target);
  }

  @Override
  public final T copy(T from) {
    return from;
  }

  @Override
  public final T copy(T from, T reuse) {
    return from;
  }

  @Override
  public final boolean isImmutableType() {
    return true;
  }

  @Override
  public final TypeSerializer<T> duplicate() {
    return this;
  }

  /** None: records come from their factories. */
  @Override
  public final T createInstance() {
    return null;
  }

  @Override
  public final int getLength() {
    return -1;
  }

  @Override
  public final boolean equals(Object other) {
    return other != null && getClass() == other.getClass();
  }

  @Override
  public final int hashCode() {
    return getClass().hashCode();
  }
}
