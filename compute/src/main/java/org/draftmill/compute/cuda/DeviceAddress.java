package org.draftmill.compute.cuda;

import jcuda.driver.CUdeviceptr;

/** A place in device memory as JCuda takes it, with its number. */
final class DeviceAddress extends CUdeviceptr {

  /** Filled by the driver. */
  DeviceAddress() {}

  DeviceAddress(long address) {
    super(new CUdeviceptr(), address);
  }

  long value() {
    return getNativePointer() + getByteOffset();
  }
}
