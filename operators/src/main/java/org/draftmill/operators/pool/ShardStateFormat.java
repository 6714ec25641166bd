package org.draftmill.operators.pool;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.draftmill.serializers.JobId;
import org.draftmill.serializers.StepMarker;

/**
 * The bytes of a {@link ShardState} and of all that decides the order of release, so that a run
 * with another order cannot go on from it. Big-endian.
 *
 * <pre>
 *  0 int   magic 'DMPS'
 *  4 int   version, 1
 *  8 long  run.seed
 * 16 long  jobs of the run
 * 24 int   drafter.accumulation
 * 28 int   pool.shards
 * 32 int   pool.window
 * 36 int   pool.release: 0 seeded, 1 as-ready
 * 40 int   shard
 * 44 long  step
 * 52 long  releases
 * 60 int   n, then n long: places
 *    int   m, then m times: releases of the step
 *          long position, int epoch, int index, int bucket, byte tombstone (0, 1)
 * </pre>
 */
final class ShardStateFormat {
  private static final int MAGIC = 0x444D5053;
  private static final int VERSION = 1;
  private static final int RELEASE_BYTES = 21;

  private ShardStateFormat() {}

  static byte[] write(ShardState state, PoolSettings settings) throws IOException {
    DataOutputSerializer out = new DataOutputSerializer(256);
    out.writeInt(MAGIC);
    out.writeInt(VERSION);
    out.writeLong(settings.run().seed());
    out.writeLong(settings.run().jobs());
    out.writeInt(settings.run().accumulation());
    out.writeInt(settings.shards());
    out.writeInt(settings.window());
    out.writeInt(code(settings.release()));
    out.writeInt(state.shard());
    out.writeLong(state.step());
    out.writeLong(state.released());
    out.writeInt(state.places().length);
    for (long place : state.places()) {
      out.writeLong(place);
    }
    out.writeInt(state.releasedOfStep().size());
    for (StepMarker.Release release : state.releasedOfStep()) {
      JobId job = release.job();
      out.writeLong(job.position());
      out.writeInt(job.epoch());
      out.writeInt(job.index());
      out.writeInt(job.bucket());
      out.writeBoolean(release.tombstone());
    }
    return out.getCopyOfBuffer();
  }

  /**
   * @throws IOException if these are no such bytes
   * @throws IllegalConfigurationException if they were written with another order of release
   */
  static ShardState read(byte[] bytes, PoolSettings settings) throws IOException {
    try {
      return read(new DataInputDeserializer(bytes), settings);
    } catch (EOFException | IllegalArgumentException e) {
      throw new IOException("The state of the pool is damaged: " + e.getMessage(), e);
    }
  }

  private static ShardState read(DataInputDeserializer in, PoolSettings settings)
      throws IOException {
    int magic = in.readInt();
    int version = in.readInt();
    if (magic != MAGIC || version != VERSION) {
      throw new IOException(
          "The state of the pool begins with %08x, version %d; this program reads %08x, version %d."
              .formatted(magic, version, MAGIC, VERSION));
    }
    same("run.seed", in.readLong(), settings.run().seed());
    same("the number of jobs", in.readLong(), settings.run().jobs());
    same("drafter.accumulation", in.readInt(), settings.run().accumulation());
    same(PoolOptions.SHARDS, in.readInt(), settings.shards());
    same(PoolOptions.WINDOW, in.readInt(), settings.window());
    same(PoolOptions.RELEASE.key(), order(in.readInt()), settings.release());
    int shard = in.readInt();
    long step = in.readLong();
    long released = in.readLong();
    long[] places = new long[count(in, Long.BYTES, "places")];
    for (int i = 0; i < places.length; i++) {
      places[i] = in.readLong();
    }
    int releases = count(in, RELEASE_BYTES, "releases");
    List<StepMarker.Release> releasedOfStep = new ArrayList<>();
    for (int i = 0; i < releases; i++) {
      JobId job = new JobId(in.readLong(), in.readInt(), in.readInt(), in.readInt());
      releasedOfStep.add(new StepMarker.Release(job, in.readBoolean()));
    }
    if (in.available() > 0) {
      throw new IOException(
          "The state of the pool is damaged: %d bytes follow its end.".formatted(in.available()));
    }
    return new ShardState(shard, step, released, places, releasedOfStep);
  }

  private static int count(DataInputDeserializer in, int bytes, String what) throws IOException {
    int count = in.readInt();
    if (count < 0 || count > in.available() / bytes) {
      throw new IOException(
          "The state of the pool is damaged: it names %d %s, but %d bytes are left for them."
              .formatted(count, what, in.available()));
    }
    return count;
  }

  private static int code(ReleaseOrder order) {
    return switch (order) {
      case SEEDED -> 0;
      case AS_READY -> 1;
    };
  }

  private static ReleaseOrder order(int code) throws IOException {
    return switch (code) {
      case 0 -> ReleaseOrder.SEEDED;
      case 1 -> ReleaseOrder.AS_READY;
      default ->
          throw new IOException(
              "The state of the pool has the order of release " + code + "; 0 and 1 are known.");
    };
  }

  private static void same(ConfigOption<?> option, int then, int now) {
    same(option.key(), then, now);
  }

  private static void same(String name, Object then, Object now) {
    if (!then.equals(now)) {
      throw new IllegalConfigurationException(
          "The checkpoint was written with %s = %s, this run has %s. That would change the order of training: set it back, or begin a new run."
              .formatted(name, then, now));
    }
  }
}
