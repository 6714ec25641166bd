package org.draftmill.compute.cuda;

import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;
import static jcuda.driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.draftmill.compute.InputException;

/** The NVIDIA driver of this machine, by way of JCuda's native binding. */
final class CudaDriver {
  /** CUDA 12.0, as R525 brings it. */
  static final int OLDEST = 12000;

  private CudaDriver() {}

  /**
   * Loads the binding and starts the driver; harmless when done already.
   *
   * @throws InputException when there is no driver, or one that is too old
   */
  static void start() {
    Binding.require();
    int result = JCudaDriver.cuInit(0);
    if (result == CUresult.CUDA_ERROR_NO_DEVICE) {
      throw new InputException(
          "The device 'cuda' was asked for, but the NVIDIA driver finds no GPU. Is one given to"
              + " this process (CUDA_VISIBLE_DEVICES, the container's runtime)? The devices 'cpu'"
              + " and 'auto' need none.");
    }
    if (result != CUresult.CUDA_SUCCESS) {
      throw new InputException(
          "The NVIDIA driver does not start: %s. 'nvidia-smi' should name the trouble; the device 'cpu' needs no driver."
              .formatted(CudaFailure.explain(result)));
    }
    int[] version = {0};
    CudaFailure.check(JCudaDriver.cuDriverGetVersion(version), "asking for the driver's version");
    if (version[0] < OLDEST) {
      throw new InputException(
          "The NVIDIA driver is too old: it knows CUDA %d.%d, Draftmill needs CUDA 12.0 (R525) or newer. Update the driver, or use the device 'cpu'."
              .formatted(version[0] / 1000, version[0] % 1000 / 10));
    }
  }

  /** Whether {@link #start()} would succeed and there is a GPU that the kernels cover. */
  static boolean usable() {
    try {
      start();
      return devices().stream().anyMatch(CudaDevice::covered);
    } catch (InputException e) {
      return false;
    }
  }

  /**
   * The same of one device. That it is not there is no reason to compute elsewhere: {@link
   * CudaBackend#open(int)} says so.
   */
  static boolean usable(int index) {
    try {
      start();
      List<CudaDevice> devices = devices();
      return index < devices.size() ? devices.get(index).covered() : !devices.isEmpty();
    } catch (InputException e) {
      return false;
    }
  }

  /** The devices of a started driver, in its order. */
  static List<CudaDevice> devices() {
    int[] count = {0};
    CudaFailure.check(JCudaDriver.cuDeviceGetCount(count), "counting the devices");
    List<CudaDevice> devices = new ArrayList<>();
    for (int index = 0; index < count[0]; index++) {
      devices.add(device(index));
    }
    return List.copyOf(devices);
  }

  private static CudaDevice device(int index) {
    CUdevice handle = new CUdevice();
    CudaFailure.check(JCudaDriver.cuDeviceGet(handle, index), "opening device " + index);
    byte[] name = new byte[256];
    CudaFailure.check(JCudaDriver.cuDeviceGetName(name, name.length, handle), "naming a device");
    int length = 0;
    while (length < name.length && name[length] != 0) {
      length++;
    }
    long[] bytes = {0};
    CudaFailure.check(JCudaDriver.cuDeviceTotalMem(bytes, handle), "asking for a device's memory");
    int capability =
        10 * attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
            + attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return new CudaDevice(
        index,
        new String(name, 0, length, StandardCharsets.UTF_8),
        capability,
        attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        bytes[0]);
  }

  private static int attribute(CUdevice device, int attribute) {
    int[] value = {0};
    CudaFailure.check(
        JCudaDriver.cuDeviceGetAttribute(value, attribute, device), "asking for an attribute");
    return value[0];
  }

  /** JCuda's native library, loaded at first use; a failure is remembered. */
  private static final class Binding {
    private static final Throwable FAILURE = NativeBinding.load("jcuda.driver.JCudaDriver");

    static void require() {
      if (FAILURE != null) {
        throw new InputException(message(FAILURE));
      }
    }

    private static String message(Throwable failure) {
      String text = String.valueOf(failure.getMessage());
      if (text.contains("libcuda.so.1")) {
        return "The device 'cuda' was asked for, but this machine has no NVIDIA driver"
            + " (libcuda.so.1 was not found). Install one of R525 or newer, or use the"
            + " device 'cpu'.";
      }
      return "The device 'cuda' was asked for, but the native part of JCuda does not load; on a"
          + " cluster jcuda and jcuda-natives belong into Flink's lib/. "
          + failure;
    }
  }
}
