package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs that mix up two devices, and what the emulator says of them. */
@Tag(CudaEmulator.TAG)
@ExtendWith(CudaEmulator.class)
class EmulatedPeersTest {
  private static final String NUMBER =
      """
      #include "device.cuh"
      extern "C" __global__ void number(int* values, int upTo) {
        for (int i = threadIdx.x; i < upTo; i += blockDim.x) {
          values[i] = i;
        }
      }
      """;

  private EmulatedDevice first;
  private EmulatedDevice second;

  @BeforeEach
  void open() {
    CudaEmulator.setDevices(2);
    first = new EmulatedDevice(0);
    second = new EmulatedDevice(1);
  }

  @AfterEach
  void close() {
    second.close();
    first.use();
    first.close();
    for (CudaEmulator.Kind kind : CudaEmulator.Kind.values()) {
      assertThat(CudaEmulator.live(kind)).as(kind.name()).isZero();
    }
  }

  @Test
  void aKernelStaysOnItsDevice() {
    DeviceAddress theirs = second.zeros(128);
    first.use();
    first.launch(first.kernel(NUMBER), 1, 32, 0, theirs, 32);
    assertThatThrownBy(first::await)
        .hasMessageContaining("is memory of GPU 1, and the kernel runs on GPU 0");
  }

  @Test
  void aCopyStaysOnItsDevice() {
    DeviceAddress theirs = second.memory(128);
    first.use();
    JCudaDriver.cuMemsetD8Async(theirs, (byte) 0, 128, first.stream);
    assertThatThrownBy(first::await).hasMessageContaining("is of GPU 1");
  }

  @Test
  void aKernelIsLaunchedInTheContextOfItsStream() {
    first.use();
    var kernel = first.kernel(NUMBER);
    DeviceAddress mine = first.zeros(128);
    second.use();
    assertThatThrownBy(() -> first.launch(kernel, 1, 32, 0, mine, 32))
        .hasMessageContaining("in the context of GPU 1");
  }

  @Test
  void anEventBelongsToTheDeviceOfItsStream() {
    first.use();
    var event = first.event();
    assertThat(JCudaDriver.cuEventRecord(event, second.stream))
        .isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
  }

  private int copy(DeviceAddress to, DeviceAddress from) {
    return JCudaDriver.cuMemcpyPeerAsync(
        to, first.context(), from, second.context(), 128, first.stream);
  }

  @Test
  void copiesGoStraightWhereThatWasAskedForAndCanBe() {
    DeviceAddress theirs = second.zeros(128);
    first.use();
    DeviceAddress mine = first.memory(128);
    final long staged = CudaEmulator.copiesBetweenDevices(false);
    final long straight = CudaEmulator.copiesBetweenDevices(true);

    assertThat(copy(mine, theirs)).isZero();
    first.await();
    assertThat(JCudaDriver.cuCtxEnablePeerAccess(second.context(), 0)).isZero();
    assertThat(JCudaDriver.cuCtxEnablePeerAccess(second.context(), 0))
        .isEqualTo(CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    assertThat(copy(mine, theirs)).isZero();
    first.await();

    assertThat(CudaEmulator.copiesBetweenDevices(false) - staged).isEqualTo(1);
    assertThat(CudaEmulator.copiesBetweenDevices(true) - straight).isEqualTo(1);
    CudaEmulator.setPeers(false);
    second.use();
    assertThat(JCudaDriver.cuCtxEnablePeerAccess(first.context(), 0))
        .isEqualTo(CUresult.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  }

  @Test
  void aCopyNamesTheContextsOfItsMemory() {
    DeviceAddress theirs = second.zeros(128);
    first.use();
    DeviceAddress mine = first.memory(128);
    assertThat(copy(theirs, mine)).isZero();
    assertThatThrownBy(first::await)
        .hasMessageContaining("copy to GPU 0, but")
        .hasMessageContaining("is of GPU 1");
  }

  @Test
  void aCopyReadsWhatWasWritten() {
    DeviceAddress theirs = second.memory(128);
    first.use();
    DeviceAddress mine = first.memory(128);
    assertThat(copy(mine, theirs)).isZero();
    assertThatThrownBy(first::await).hasMessageContaining("which was never written");
  }
}
