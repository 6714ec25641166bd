package org.draftmill.compute.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.draftmill.compute.DType;

/**
 * Values between host and device, in chunks through pinned buffers. What computes uses one instance
 * on its stream; {@link #encode} has another on the copy stream and may be called by another
 * thread.
 */
final class Transfers implements CudaBackend.Part {
  private static final String CONVERT = "convert";

  private final CudaContext context;
  private final DeviceMemory memory;
  private final Launcher launcher;
  private final int chunkBytes;
  private final StagingLane[] lanes = new StagingLane[2];
  private int turn;

  /**
   * @param chunkBytes bytes of each of the two pinned buffers, a multiple of eight
   */
  Transfers(CudaContext context, DeviceMemory memory, Launcher launcher, int chunkBytes) {
    this.context = context;
    this.memory = memory;
    this.launcher = launcher;
    this.chunkBytes = chunkBytes;
  }

  /** Bytes that are on their way at once. */
  int chunkBytes() {
    return chunkBytes;
  }

  /** The lane whose turn it is, free to be filled. */
  private StagingLane next() {
    context.use();
    turn = (turn + 1) % lanes.length;
    if (lanes[turn] == null) {
      lanes[turn] = new StagingLane(context, memory, launcher.stream(), chunkBytes);
    } else {
      lanes[turn].await();
    }
    return lanes[turn];
  }

  /** Returns when {@code source} has been read; the device goes on by itself. */
  void write(float[] source, int from, CudaMatrix to) {
    long size = to.size();
    int atOnce = chunkBytes / Float.BYTES;
    for (long done = 0; done < size; done += atOnce) {
      int count = (int) Math.min(atOnce, size - done);
      StagingLane lane = next();
      lane.host().asFloatBuffer().put(source, Math.toIntExact(from + done), count);
      lane.toDevice(to.address() + done * Float.BYTES, (long) count * Float.BYTES);
      lane.handOver();
    }
    to.piece().usedBy(launcher.stream().note());
  }

  void write(int[] source, CudaInts to) {
    int atOnce = chunkBytes / Integer.BYTES;
    for (int done = 0; done < source.length; done += atOnce) {
      int count = Math.min(atOnce, source.length - done);
      StagingLane lane = next();
      lane.host().asIntBuffer().put(source, done, count);
      lane.toDevice(to.address() + (long) done * Integer.BYTES, (long) count * Integer.BYTES);
      lane.handOver();
    }
    to.piece().usedBy(launcher.stream().note());
  }

  /** Only the elements {@code from … end − 1}, each to its own place. */
  void write(long[] source, int from, int end, Piece to) {
    int atOnce = chunkBytes / Long.BYTES;
    for (long done = from; done < end; done += atOnce) {
      int count = (int) Math.min(atOnce, end - done);
      StagingLane lane = next();
      lane.host().asLongBuffer().put(source, (int) done, count);
      lane.toDevice(to.address() + done * Long.BYTES, (long) count * Long.BYTES);
      lane.handOver();
    }
    to.usedBy(launcher.stream().note());
  }

  void read(CudaMatrix from, float[] destination, int to) {
    fetch(
        from.address(),
        from.bytes(),
        (bytes, at) ->
            bytes
                .asFloatBuffer()
                .get(destination, to + (int) (at / Float.BYTES), bytes.remaining() / Float.BYTES));
  }

  void read(CudaInts from, int[] destination) {
    fetch(
        from.address(),
        (long) from.size() * Integer.BYTES,
        (bytes, at) ->
            bytes
                .asIntBuffer()
                .get(destination, (int) (at / Integer.BYTES), bytes.remaining() / Integer.BYTES));
  }

  void read(Piece from, long[] destination) {
    fetch(
        from.address(),
        (long) destination.length * Long.BYTES,
        (bytes, at) ->
            bytes
                .asLongBuffer()
                .get(destination, (int) (at / Long.BYTES), bytes.remaining() / Long.BYTES));
  }

  private interface Receiver {
    /** Takes the bytes from position to limit, which lie at {@code offset} of the whole. */
    void take(ByteBuffer bytes, long offset);
  }

  /** Copies to the host, the next chunk on its way while one is taken. */
  private void fetch(long address, long bytes, Receiver receiver) {
    StagingLane last = null;
    long lastAt = 0;
    for (long at = 0; at < bytes; at += chunkBytes) {
      StagingLane lane = next();
      lane.toHost(address + at, Math.min(chunkBytes, bytes - at));
      lane.handOver();
      if (last != null) {
        deliver(last, lastAt, chunkBytes, receiver);
      }
      last = lane;
      lastAt = at;
    }
    if (last != null) {
      deliver(last, lastAt, (int) (bytes - lastAt), receiver);
    }
  }

  private static void deliver(StagingLane lane, long at, int bytes, Receiver receiver) {
    lane.await();
    receiver.take(lane.host().limit(bytes).slice().order(ByteOrder.LITTLE_ENDIAN), at);
  }

  /** See {@link org.draftmill.compute.ops.Workspace#decode}. */
  void decode(ByteBuffer source, DType dtype, CudaMatrix to) {
    int atOnce = chunkBytes / dtype.bytes();
    for (long done = 0; done < to.size(); done += atOnce) {
      int count = (int) Math.min(atOnce, to.size() - done);
      int bytes = count * dtype.bytes();
      StagingLane lane = next();
      lane.host().put(source.slice(source.position(), bytes));
      source.position(source.position() + bytes);
      long address = to.address() + done * Float.BYTES;
      if (dtype == DType.F32) {
        lane.toDevice(address, bytes);
      } else {
        lane.toDevice(lane.device(), bytes);
        String kernel = dtype == DType.BF16 ? "decode_bf16" : "decode_f16";
        launcher.launch(CONVERT, kernel, Grid.over(count), lane.device(), address, (long) count);
      }
      lane.handOver();
    }
    to.piece().usedBy(launcher.stream().note());
  }

  /**
   * See {@link org.draftmill.compute.ops.Workspace#encode}: waits for the work that {@code from}
   * came out of, and for nothing that the computing stream was given after it.
   *
   * @param clock counts from when {@code from} is there to the last chunk's arrival
   */
  synchronized void encode(
      CudaMatrix from, DType dtype, ByteBuffer destination, WorkStream computing, CudaClock clock) {
    context.use();
    computing.letWait(launcher.stream(), from.piece().lastUse());
    clock.start();
    int atOnce = chunkBytes / dtype.bytes();
    StagingLane last = null;
    int lastBytes = 0;
    for (long done = 0; done < from.size(); done += atOnce) {
      int count = (int) Math.min(atOnce, from.size() - done);
      StagingLane lane = next();
      encode(from.address() + done * Float.BYTES, dtype, count, lane);
      lane.handOver();
      if (last != null) {
        deliver(last, 0, lastBytes, (bytes, at) -> destination.put(bytes));
      }
      last = lane;
      lastBytes = count * dtype.bytes();
    }
    clock.stop();
    if (last != null) {
      deliver(last, 0, lastBytes, (bytes, at) -> destination.put(bytes));
    }
  }

  /** Sends {@code count} values by way of the lane's buffer on the device, if they are rounded. */
  private void encode(long address, DType dtype, int count, StagingLane lane) {
    if (dtype == DType.F32) {
      lane.toHost(address, (long) count * Float.BYTES);
      return;
    }
    String kernel = dtype == DType.BF16 ? "encode_bf16" : "encode_f16";
    launcher.launch(CONVERT, kernel, Grid.over(count), address, lane.device(), (long) count);
    lane.toHost(lane.device(), (long) count * dtype.bytes());
  }

  @Override
  public void close() {
    for (StagingLane lane : lanes) {
      if (lane != null) {
        lane.close();
      }
    }
  }
}
