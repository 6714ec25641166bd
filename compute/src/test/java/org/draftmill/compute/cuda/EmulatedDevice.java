package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * A device by the bare calls of the driver, with kernels that a test brings along as source: what
 * the emulator does with a program that is wrong.
 */
final class EmulatedDevice implements AutoCloseable {
  private static final Pattern SIGNATURE =
      Pattern.compile("__global__\\s+void\\s+(\\w+)\\s*\\(([^)]*)\\)");

  private final CUdevice device = new CUdevice();
  private final CUcontext context = new CUcontext();
  private final List<CUmodule> modules = new ArrayList<>();
  private final List<CUstream> streams = new ArrayList<>();
  private final List<CUevent> events = new ArrayList<>();
  private final List<DeviceAddress> memory = new ArrayList<>();
  private final List<Pointer> pinned = new ArrayList<>();
  final CUstream stream;

  EmulatedDevice() {
    this(0);
  }

  /** The device of this number; calls are made on it until another one is made or used. */
  EmulatedDevice(int number) {
    CudaDriver.start();
    check(JCudaDriver.cuDeviceGet(device, number), "device");
    check(JCudaDriver.cuDevicePrimaryCtxRetain(context, device), "context");
    use();
    stream = stream();
  }

  void use() {
    check(JCudaDriver.cuCtxSetCurrent(context), "context");
  }

  CUcontext context() {
    return context;
  }

  CUstream stream() {
    CUstream made = new CUstream();
    check(JCudaDriver.cuStreamCreate(made, 1), "stream");
    streams.add(made);
    return made;
  }

  CUevent event() {
    CUevent made = new CUevent();
    check(JCudaDriver.cuEventCreate(made, 0), "event");
    events.add(made);
    return made;
  }

  DeviceAddress memory(long bytes) {
    DeviceAddress made = new DeviceAddress();
    check(JCudaDriver.cuMemAlloc(made, bytes), "memory");
    memory.add(made);
    return made;
  }

  /** Memory that holds zeros. */
  DeviceAddress zeros(long bytes) {
    DeviceAddress made = memory(bytes);
    check(JCudaDriver.cuMemsetD8Async(made, (byte) 0, bytes, stream), "fill");
    await();
    return made;
  }

  Pointer pinned(long bytes) {
    Pointer made = new Pointer();
    check(JCudaDriver.cuMemHostAlloc(made, bytes, 0), "pinned");
    pinned.add(made);
    return made;
  }

  void free(DeviceAddress address) {
    memory.remove(address);
    check(JCudaDriver.cuMemFree(address), "free");
  }

  /** The only kernel of {@code source}, compiled for the emulator. */
  CUfunction kernel(String source) {
    CudaEmulator.use(EmulatorBuild.kernels("testing", source));
    return kernel(source, ptx(source));
  }

  CUfunction kernel(String source, String ptx) {
    CUmodule module = new CUmodule();
    check(JCudaDriver.cuModuleLoadData(module, ptx), "module");
    modules.add(module);
    CUfunction function = new CUfunction();
    check(
        JCudaDriver.cuModuleGetFunction(function, module, EmulatorBuild.names(source).get(0)),
        "function");
    return function;
  }

  /** What nvcc would say of the kernel's name and parameters. */
  static String ptx(String source) {
    Matcher signature = SIGNATURE.matcher(source);
    if (!signature.find()) {
      throw new IllegalArgumentException("no kernel in " + source);
    }
    String parameters =
        Stream.of(signature.group(2).split(","))
            .map(p -> p.contains("*") || p.contains("long") ? ".param .u64 p" : ".param .u32 p")
            .collect(Collectors.joining(",\n"));
    return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry %s(\n%s\n)\n{}\n"
        .formatted(signature.group(1), parameters);
  }

  void launch(CUfunction function, int blocks, int threads, int shared, Object... arguments) {
    launch(stream, function, blocks, threads, shared, arguments);
  }

  void launch(
      CUstream on, CUfunction function, int blocks, int threads, int shared, Object... arguments) {
    NativePointerObject[] pointers =
        Stream.of(arguments)
            .map(
                a ->
                    a instanceof DeviceAddress address
                        ? Pointer.to(address)
                        : Pointer.to(new int[] {(Integer) a}))
            .toArray(NativePointerObject[]::new);
    check(
        JCudaDriver.cuLaunchKernel(
            function, blocks, 1, 1, threads, 1, 1, shared, on, Pointer.to(pointers), null),
        "launch");
  }

  /** Does what was put on the stream. */
  void await() {
    check(JCudaDriver.cuStreamSynchronize(stream), "waiting");
  }

  @Override
  public void close() {
    memory.forEach(JCudaDriver::cuMemFree);
    pinned.forEach(JCudaDriver::cuMemFreeHost);
    events.forEach(JCudaDriver::cuEventDestroy);
    streams.forEach(JCudaDriver::cuStreamDestroy);
    modules.forEach(JCudaDriver::cuModuleUnload);
    JCudaDriver.cuDevicePrimaryCtxRelease(device);
  }
}
