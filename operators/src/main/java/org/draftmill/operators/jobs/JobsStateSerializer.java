package org.draftmill.operators.jobs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * The state of the list in checkpoints. Version 1, big-endian: next position int64, number of
 * returned jobs int32, each as version 1 of {@link ExtractionJobSerializer}.
 */
final class JobsStateSerializer implements SimpleVersionedSerializer<JobsState> {
  static final int VERSION = 1;

  @Override
  public int getVersion() {
    return VERSION;
  }

  @Override
  public byte[] serialize(JobsState state) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(64);
    out.writeLong(state.next());
    out.writeInt(state.returned().size());
    for (ExtractionJob job : state.returned()) {
      ExtractionJobSerializer.write(job, out);
    }
    return out.getCopyOfBuffer();
  }

  @Override
  public JobsState deserialize(int version, byte[] serialized) throws IOException {
    return switch (version) {
      case 1 -> read(new DataInputDeserializer(serialized));
      default ->
          throw new IOException(
              "The position in the list of jobs was written in version %d; this build reads version %d."
                  .formatted(version, VERSION));
    };
  }

  private static JobsState read(DataInputDeserializer in) throws IOException {
    long next = in.readLong();
    int count = in.readInt();
    if (next < 0 || count < 0 || count > in.available() / ExtractionJobSerializer.FIXED_BYTES) {
      throw new IOException(
          "The position in the list of jobs is damaged: next %d, %d jobs in %d bytes."
              .formatted(next, count, in.available()));
    }
    List<ExtractionJob> returned = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      returned.add(ExtractionJobSerializer.read(in));
    }
    return new JobsState(next, returned);
  }
}
