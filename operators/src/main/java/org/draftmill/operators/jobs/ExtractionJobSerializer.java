package org.draftmill.operators.jobs;

import java.io.IOException;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Jobs in checkpoints and between coordinator and readers. Version 1, big-endian: position int64,
 * epoch, index, bucket, tokens and number of sequences int32 each, sequence ids int64 each.
 */
public final class ExtractionJobSerializer implements SimpleVersionedSerializer<ExtractionJob> {
  static final int VERSION = 1;
  static final int FIXED_BYTES = 28;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(ExtractionJob job) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(bytes(job));
    write(job, out);
    return out.getCopyOfBuffer();
  }

  @Override
  public ExtractionJob deserialize(int version, byte[] serialized) throws IOException {
    return switch (version) {
      case 1 -> read(new DataInputDeserializer(serialized));
      default ->
          throw new IOException(
              "A job was written in version %d; this build reads version %d."
                  .formatted(version, VERSION));
    };
  }

  static int bytes(ExtractionJob job) {
    return FIXED_BYTES + Long.BYTES * job.sequenceIds().length;
  }

  static void write(ExtractionJob job, DataOutputView out) throws IOException {
    out.writeLong(job.position());
    out.writeInt(job.epoch());
    out.writeInt(job.index());
    out.writeInt(job.bucket());
    out.writeInt(job.tokens());
    out.writeInt(job.sequenceIds().length);
    for (long id : job.sequenceIds()) {
      out.writeLong(id);
    }
  }

  static ExtractionJob read(DataInputDeserializer in) throws IOException {
    long position = in.readLong();
    int epoch = in.readInt();
    int index = in.readInt();
    int bucket = in.readInt();
    int tokens = in.readInt();
    return new ExtractionJob(position, epoch, index, bucket, readIds(position, in), tokens);
  }

  private static long[] readIds(long position, DataInputDeserializer in) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available() / Long.BYTES) {
      throw new IOException(
          "The stored job %d says it has %d sequences; %d bytes are left for them."
              .formatted(position, count, in.available()));
    }
    long[] ids = new long[count];
    for (int i = 0; i < count; i++) {
      ids[i] = in.readLong();
    }
    return ids;
  }
}
