package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.driver.CUevent;
import jcuda.driver.JCudaDriver;

/**
 * A pinned buffer of the host and its counterpart on the device, through which a chunk of values
 * passes. Used again only after {@link #await()}.
 */
final class StagingLane implements AutoCloseable {
  private final WorkStream stream;
  private final Pointer pinned = new Pointer();
  private final ByteBuffer host;
  private final DeviceMemory memory;
  private long device;
  private CUevent done;

  StagingLane(CudaContext context, DeviceMemory memory, WorkStream stream, int bytes) {
    this.stream = stream;
    this.memory = memory;
    context.use();
    check(JCudaDriver.cuMemHostAlloc(pinned, bytes, 0), "pinning " + bytes + " bytes of memory");
    host = pinned.getByteBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
    try {
      device = memory.allocate(bytes);
      done = context.event();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /** The pinned bytes, from position 0 to the end, little-endian. */
  ByteBuffer host() {
    return host.clear();
  }

  /** The address of the buffer on the device. */
  long device() {
    return device;
  }

  void toDevice(long address, long bytes) {
    check(
        JCudaDriver.cuMemcpyHtoDAsync(new DeviceAddress(address), pinned, bytes, stream.handle()),
        "copying " + bytes + " bytes to the device on the stream " + stream);
  }

  void toHost(long address, long bytes) {
    check(
        JCudaDriver.cuMemcpyDtoHAsync(pinned, new DeviceAddress(address), bytes, stream.handle()),
        "copying " + bytes + " bytes from the device on the stream " + stream);
  }

  /** Ends the use of this lane: {@link #await()} waits for what was put on the stream so far. */
  void handOver() {
    check(JCudaDriver.cuEventRecord(done, stream.handle()), "marking the stream " + stream);
  }

  void await() {
    check(JCudaDriver.cuEventSynchronize(done), "waiting for the stream " + stream);
  }

  @Override
  public void close() {
    if (done != null) {
      JCudaDriver.cuEventDestroy(done);
    }
    JCudaDriver.cuMemFreeHost(pinned);
    memory.free(device);
  }
}
