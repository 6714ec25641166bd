package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * The hold on one device: its primary context, which all backends of a process share, and what is
 * made in it. Closed last; closing twice is harmless.
 */
final class CudaContext implements CudaBackend.Part {
  private final CudaDevice device;
  private final CUdevice handle = new CUdevice();
  private final CUcontext context = new CUcontext();
  private boolean closed;

  CudaContext(CudaDevice device) {
    this.device = device;
    check(JCudaDriver.cuDeviceGet(handle, device.index()), "opening " + device);
    check(JCudaDriver.cuDevicePrimaryCtxRetain(context, handle), "making a context on " + device);
  }

  CudaDevice device() {
    return device;
  }

  /** Makes this the context of the calling thread; needed before calls of the driver. */
  void use() {
    if (closed) {
      throw new IllegalStateException("this backend is closed");
    }
    check(JCudaDriver.cuCtxSetCurrent(context), "switching to " + device);
  }

  CUcontext handle() {
    return context;
  }

  /**
   * Lets copies between this device and a peer's go straight from memory to memory, if they can; if
   * not, the driver takes them by way of the host.
   */
  void reach(CudaContext peer) {
    int[] can = {0};
    check(
        JCudaDriver.cuDeviceCanAccessPeer(can, handle, peer.handle),
        "asking whether %s reaches %s".formatted(device, peer.device));
    if (can[0] == 0) {
      return;
    }
    use();
    int result = JCudaDriver.cuCtxEnablePeerAccess(peer.context, 0);
    if (result != CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
        && result != CUresult.CUDA_ERROR_TOO_MANY_PEERS) {
      check(result, "letting %s reach %s".formatted(device, peer.device));
    }
  }

  /** A stream that waits for no other. */
  CUstream stream() {
    CUstream stream = new CUstream();
    check(
        JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING),
        "making a stream");
    return stream;
  }

  /** An event for ordering, without a time. */
  CUevent event() {
    return event(CUevent_flags.CU_EVENT_DISABLE_TIMING);
  }

  /** An event that notes its time. */
  CUevent timedEvent() {
    return event(CUevent_flags.CU_EVENT_DEFAULT);
  }

  private static CUevent event(int flags) {
    CUevent event = new CUevent();
    check(JCudaDriver.cuEventCreate(event, flags), "making an event");
    return event;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      JCudaDriver.cuDevicePrimaryCtxRelease(handle);
    }
  }
}
