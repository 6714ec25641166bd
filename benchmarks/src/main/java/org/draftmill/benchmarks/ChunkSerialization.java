package org.draftmill.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.GenericTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.draftmill.serializers.HiddenStateChunk;
import org.draftmill.serializers.HiddenStateChunkSerializer;
import org.draftmill.serializers.KryoSerializers;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Writes and reads chunks of 4 MB; {@link #copy} is the measure of both. Operations a second. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class ChunkSerialization {

  /** Flink's own way, or Kryo with the registered serializer. */
  public enum Way {
    NATIVE,
    KRYO
  }

  @Param({"NATIVE", "KRYO"})
  public Way way;

  private final DataOutputSerializer out = new DataOutputSerializer(Chunks.DEFAULT_BYTES + 1024);
  private final DataInputDeserializer in = new DataInputDeserializer();
  private TypeSerializer<HiddenStateChunk> serializer;
  private HiddenStateChunk chunk;
  private ByteBuffer record;
  private byte[] written;
  private byte[] copied;

  /** Makes a chunk, and its bytes for reading. */
  @Setup
  public void setUp() throws IOException {
    serializer = way == Way.NATIVE ? HiddenStateChunkSerializer.INSTANCE : kryo();
    chunk = Chunks.of(0, 0, 1, Chunks.DEFAULT_BYTES);
    record = chunk.record();
    serializer.serialize(chunk, out);
    written = out.getCopyOfBuffer();
    copied = new byte[chunk.sizeInBytes()];
  }

  private static TypeSerializer<HiddenStateChunk> kryo() {
    Configuration configuration = new Configuration();
    KryoSerializers.register(configuration);
    return new GenericTypeInfo<>(HiddenStateChunk.class)
        .createSerializer(new SerializerConfigImpl(configuration));
  }

  /** A copy of the record's bytes into memory that is there already. */
  @Benchmark
  public byte[] copy() {
    record.get(0, copied);
    return copied;
  }

  @Benchmark
  public int write() throws IOException {
    out.clear();
    serializer.serialize(chunk, out);
    return out.length();
  }

  /** Allocates the chunk and checks its checksum. */
  @Benchmark
  public HiddenStateChunk read() throws IOException {
    in.setBuffer(written);
    return serializer.deserialize(in);
  }
}
