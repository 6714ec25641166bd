package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jcuda.Pointer;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that are wrong, and what the emulator says of them. */
@Tag(CudaEmulator.TAG)
@ExtendWith(CudaEmulator.class)
class CudaEmulatorTest {
  private EmulatedDevice device;

  @BeforeEach
  void open() {
    device = new EmulatedDevice();
  }

  @AfterEach
  void close() {
    device.close();
    for (CudaEmulator.Kind kind : CudaEmulator.Kind.values()) {
      assertThat(CudaEmulator.live(kind)).as(kind.name()).isZero();
    }
  }

  /** A kernel that turns its block's values around, through shared memory. */
  private static String reverse(String first, String second) {
    return """
    #include "device.cuh"
    extern "C" __global__ void reverse(int* values, int rounds) {
      __shared__ int held[256];
      int i = threadIdx.x;
      for (int round = 0; round < rounds; round++) {
        held[i] = values[i];
        %s
        values[i] = held[blockDim.x - 1 - i];
        %s
      }
    }
    """
        .formatted(first, second);
  }

  private int[] run(String source, int rounds) {
    CUfunction kernel = device.kernel(source);
    DeviceAddress values = device.zeros(256 * 4);
    Pointer host = device.pinned(256 * 4);
    for (int i = 0; i < 256; i++) {
      host.getByteBuffer(0, 1024).order(java.nio.ByteOrder.nativeOrder()).putInt(4 * i, i);
    }
    JCudaDriver.cuMemcpyHtoDAsync(values, host, 1024, device.stream);
    device.launch(kernel, 1, 256, 0, values, rounds);
    JCudaDriver.cuMemcpyDtoHAsync(host, values, 1024, device.stream);
    device.await();
    int[] result = new int[256];
    host.getByteBuffer(0, 1024).order(java.nio.ByteOrder.nativeOrder()).asIntBuffer().get(result);
    return result;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void aCorrectKernelIsRightInAnyOrder(long seed) {
    CudaEmulator.order(CudaEmulator.Order.RANDOM, seed);
    int[] values = run(reverse("__syncthreads();", "__syncthreads();"), 3);
    assertThat(values[0]).isEqualTo(255);
    assertThat(values[200]).isEqualTo(55);
  }

  @Test
  void aBarrierMissingBetweenWriteAndRead() {
    assertThatThrownBy(() -> run(reverse("", "__syncthreads();"), 1))
        .hasMessageContaining("kernel reverse, block (0,0,0), thread")
        .hasMessageContaining("of the static shared memory");
  }

  @Test
  void aBarrierMissingBetweenReadAndWrite() {
    assertThatThrownBy(() -> run(reverse("__syncthreads();", ""), 2))
        .hasMessageContaining("without a barrier in between");
  }

  @Test
  void aBarrierThatNotAllReach() {
    assertThatThrownBy(
            () ->
                run(
                    reverse("if (i < 100) __syncthreads();", "__syncthreads(); __syncthreads();"),
                    1))
        .isInstanceOf(CudaFailure.class);
  }

  @Test
  void aWarpThatDoesNotMeet() {
    assertThatThrownBy(
            () ->
                run(
                    reverse(
                        "__syncthreads(); if (i % 32 == 3) __syncthreads(); else i += 0 *"
                            + " __shfl_sync(ALL_LANES, i, 0);",
                        "__syncthreads();"),
                    1))
        .hasMessageContaining("threads wait for each other for ever");
  }

  private CUfunction kernel(String parameters, String body) {
    return device.kernel(
        "#include \"tensor_core.cuh\"\nextern \"C\" __global__ void testing("
            + parameters
            + ") {\n"
            + body
            + "\n}\n");
  }

  private void assertFails(
      CUfunction kernel, int blocks, int threads, String message, Object... arguments) {
    device.launch(kernel, blocks, threads, 0, arguments);
    assertThatThrownBy(device::await)
        .isInstanceOf(CudaFailure.class)
        .hasMessageContaining("kernel testing, block")
        .hasMessageContaining(message);
  }

  @Test
  void aWriteBehindTheEnd() {
    CUfunction kernel = kernel("int* x, int n", "x[globalThread()] = n;");
    assertFails(
        kernel,
        1,
        65,
        "4 bytes are written at byte 256 of an allocation of 256 bytes",
        device.memory(256),
        1);
  }

  @Test
  void aReadBehindTheEnd() {
    CUfunction kernel = kernel("int* x, int n", "x[threadIdx.x] = x[threadIdx.x + n];");
    assertFails(kernel, 1, 1, "4 bytes are read at byte 256 of", device.zeros(256), 64);
  }

  @Test
  void aReadOfWhatNobodyWrote() {
    CUfunction kernel = kernel("float* x, float* y", "y[0] = x[3];");
    assertFails(
        kernel,
        1,
        1,
        "byte 12 of an allocation of 64 bytes is read but was never written",
        device.memory(64),
        device.memory(64));
  }

  @Test
  void aReadOfSharedMemoryThatTheBlockBeforeWrote() {
    CUfunction kernel =
        kernel(
            "int* x, int n",
            "__shared__ int s[2]; if (n == 0) s[0] = 1; __syncthreads(); x[blockIdx.x] ="
                + " s[blockIdx.x == 7];");
    device.launch(kernel, 1, 1, 0, device.memory(64), 0);
    device.await();
    assertFails(kernel, 1, 1, "is read but was never written", device.memory(64), 1);
  }

  @Test
  void useAfterFree() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    DeviceAddress x = device.memory(64);
    device.free(x);
    assertFails(
        kernel, 1, 1, "4 bytes are written at byte 8 of a freed allocation of 64 bytes", x, 2);
  }

  @Test
  void anIndexBesideAnArray() {
    CUfunction kernel =
        kernel("int* x, int n", "__shared__ int s[4], t[4]; t[0] = s[n] = 1; x[0] = t[0];");
    assertFails(kernel, 1, 1, "index 4 is outside of an array", device.memory(4), 4);
  }

  @Test
  void memoryOfTheHost() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    assertFails(kernel, 1, 1, "no memory of the device", new DeviceAddress(4096), 2);
  }

  @Test
  void aWideLoadFromAnOddPlace() {
    CUfunction kernel = kernel("float* x, int n", "x[0] = load4(x + n).y;");
    assertFails(kernel, 1, 1, "is not aligned for 16 bytes", device.zeros(64), 1);
  }

  @Test
  void twoBlocksThatWriteTheSamePlace() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    assertFails(kernel, 2, 1, "is written twice without a barrier", device.memory(64), 0);
  }

  @Test
  void twoBlocksOfWhichOneReads() {
    CUfunction kernel =
        kernel("int* x, int n", "if (blockIdx.x == n) x[0] = 1; else x[1 + blockIdx.x] = x[0];");
    assertFails(kernel, 4, 1, "without a barrier", device.zeros(64), 2);
  }

  @Test
  void integersMayBeAddedByAll() {
    CUfunction kernel = kernel("int* x, int n", "atomicAdd(x, n);");
    DeviceAddress x = device.zeros(4);
    device.launch(kernel, 3, 64, 0, x, 2);
    Pointer host = device.pinned(4);
    JCudaDriver.cuMemcpyDtoHAsync(host, x, 4, device.stream);
    device.await();
    assertThat(host.getByteBuffer(0, 4).order(java.nio.ByteOrder.nativeOrder()).getInt(0))
        .isEqualTo(384);
  }

  @Test
  void floatsMayNot() {
    assertThatThrownBy(() -> kernel("float* x, int n", "atomicAdd(x, 1.0f);"))
        .isInstanceOf(EmulatorBuild.CompilationFailed.class)
        .hasMessageContaining("atomicAdd");
  }

  private static final String COPY =
      "__shared__ __align__(16) float s[4]; copyAsync16(s, x); copyCommit(); %s y[0] = s[2];";

  @Test
  void anAsynchronousCopyThatWasWaitedFor() {
    device.launch(
        kernel("float* x, float* y", COPY.formatted("copyWait<0>();")),
        1,
        1,
        0,
        device.zeros(16),
        device.memory(4));
    device.await();
  }

  @Test
  void anAsynchronousCopyThatWasNotWaitedFor() {
    CUfunction kernel = kernel("float* x, float* y", COPY.formatted("copyWait<1>();"));
    assertFails(kernel, 1, 1, "is read but was never written", device.zeros(16), device.memory(4));
  }

  @Test
  void aKernelWithOtherParametersThanItsModule() {
    String source = "extern \"C\" __global__ void testing(int* x, long long n) { x[n] = 0; }";
    CudaEmulator.use(EmulatorBuild.kernels("testing", source));
    assertThatThrownBy(
            () -> device.kernel(source, EmulatedDevice.ptx(source.replace("long long", "int"))))
        .hasMessageContaining("has other parameters in the module than in its source");
  }

  @Test
  void aKernelThatTheModuleLacks() {
    String source = "extern \"C\" __global__ void testing(int* x, int n) { x[n] = 0; }";
    CudaEmulator.use(EmulatorBuild.kernels("testing", source));
    assertThatThrownBy(
            () -> device.kernel(source, EmulatedDevice.ptx(source.replace("testing", "other"))))
        .hasMessageContaining("kernel testing is not in the module");
  }

  @Test
  void tooManyThreads() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    assertThatThrownBy(() -> device.launch(kernel, 1, 1025, 0, device.memory(4), 0))
        .hasMessageContaining("blocks of (1025,1,1)");
  }

  @Test
  void tooMuchSharedMemory() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    assertThatThrownBy(() -> device.launch(kernel, 1, 1, 50_000, device.memory(4), 0))
        .hasMessageContaining("asks for 50000 bytes of shared memory, allowed are 49152");
  }

  @Test
  void nothingGoesOnAfterAFailure() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    DeviceAddress x = device.memory(64);
    assertFails(kernel, 1, 1, "byte 400", x, 100);
    assertThatThrownBy(() -> device.memory(4)).hasMessageContaining("ILLEGAL_ADDRESS");
  }

  /** Writes on one stream, copies on another; {@code wait} says whether the second waits. */
  private void writeAndCopy(boolean wait) {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 42;");
    DeviceAddress x = device.memory(4);
    CUstream copies = device.stream();
    Pointer host = device.pinned(4);
    device.launch(kernel, 1, 1, 0, x, 0);
    CUevent written = device.event();
    JCudaDriver.cuEventRecord(written, device.stream);
    if (wait) {
      JCudaDriver.cuStreamWaitEvent(copies, written, 0);
    }
    JCudaDriver.cuMemcpyDtoHAsync(host, x, 4, copies);
    CudaFailure.check(JCudaDriver.cuStreamSynchronize(copies), "waiting");
    assertThat(host.getByteBuffer(0, 4).order(java.nio.ByteOrder.nativeOrder()).getInt(0))
        .isEqualTo(42);
  }

  @ParameterizedTest
  @EnumSource
  void aStreamThatWaitsForAnother(CudaEmulator.Order order) {
    CudaEmulator.order(order, 5);
    writeAndCopy(true);
  }

  @Test
  void aStreamThatDoesNotWait() {
    assertThatThrownBy(() -> writeAndCopy(false)).hasMessageContaining("which was never written");
  }

  @Test
  void anAsynchronousCopyFromMemoryThatIsNotPinned() {
    assertThat(
            JCudaDriver.cuMemcpyHtoDAsync(
                device.memory(4), Pointer.to(new int[1]), 4, device.stream))
        .isEqualTo(1);
  }

  @Test
  void aCopyBehindTheEnd() {
    DeviceAddress x = device.zeros(4);
    Pointer host = device.pinned(8);
    assertThat(JCudaDriver.cuMemcpyDtoHAsync(host, x, 8, device.stream)).isEqualTo(1);
    assertThat(CudaFailure.explain(1))
        .contains("copy from the device of 8 bytes at byte 0 of an allocation of 4 bytes");
  }

  @Test
  void theDefaultStream() {
    CUfunction kernel = kernel("int* x, int n", "x[n] = 1;");
    assertThatThrownBy(() -> device.launch((CUstream) null, kernel, 1, 1, 0, device.memory(4), 0))
        .hasMessageContaining("no such stream");
  }
}
