package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a backend holds, and that it gives everything back. */
@Tag(CudaEmulator.TAG)
@ExtendWith(CudaEmulator.class)
class CudaMemoryTest {
  private static final int STAGING = 1 << 14;

  @AfterEach
  void nothingIsLeft() {
    for (CudaEmulator.Kind kind : CudaEmulator.Kind.values()) {
      assertThat(CudaEmulator.live(kind)).as(kind.name()).isZero();
    }
  }

  private static void work(CudaBackend backend, Workspace memory, int rows) {
    Matrix x = memory.zeros(rows, 100);
    backend.ops().add(x, memory.zeros(rows, 100), x);
    memory.encode(x, DType.BF16, ByteBuffer.allocate(rows * 200));
    memory.arrange(x);
    memory.ints(1, 2, 3);
    assertThat(x.rows(rows - 1, rows).toArray()).containsOnly(0);
  }

  /** The end of a step, of which nothing is closed. */
  private static void step(CudaBackend backend) {
    DeviceClock clock = backend.clock();
    ExactSums sums = backend.exactSums(3);
    Masters masters = backend.masters(new float[] {1, 2, 3}, 0, 3);
    clock.start();
    masters.update(sums, 1, AdamW.of(1e-3, 0.9, 0.95, 1e-8, 0, 1), 0, 3);
    clock.stop();
    clock.start();
    assertThat(masters.toHost(0, 3)).containsExactly(1, 2, 3);
  }

  @Test
  void aHundredBackendsLeaveNothing() {
    for (int i = 0; i < 100; i++) {
      try (CudaBackend backend = CudaBackend.open(0, STAGING)) {
        Workspace left = backend.workspace(); // closed by the backend
        work(backend, left, 5);
        step(backend);
        try (Workspace memory = backend.workspace()) {
          work(backend, memory, 7);
        }
      }
    }
  }

  @Test
  void anyAllocationMayFail() {
    int failures = 0;
    for (int after = 0; after < 12; after++) {
      CudaEmulator.failAllocation(after);
      try (CudaBackend backend = CudaBackend.open(0, STAGING);
          Workspace memory = backend.workspace()) {
        work(backend, memory, 500);
      } catch (InputException e) {
        failures++;
      }
      nothingIsLeft();
    }
    assertThat(failures).isPositive().isLessThan(12);
  }

  @Test
  void aFailedKernelLeavesNothing() {
    assertThatThrownBy(
            () -> {
              try (CudaBackend backend = CudaBackend.open(0, STAGING);
                  Workspace memory = backend.workspace()) {
                Matrix x = memory.matrix(2, 2);
                DeviceClock clock = backend.clock();
                clock.start();
                backend.ops().add(x, x, x); // of what nobody wrote
                clock.stop();
                x.toArray();
              }
            })
        .isInstanceOf(CudaFailure.class)
        .hasMessageContaining("waiting for the stream compute failed")
        .hasMessageContaining("kernel add, block (0,0,0)");
  }

  @Test
  void tooLittleMemory() {
    CudaEmulator.setDevice(80, 64 << 20, 12000, 80);
    try (CudaBackend backend = CudaBackend.open(0, STAGING);
        Workspace memory = backend.workspace()) {
      memory.matrix(1 << 10, 1 << 10);
      assertThatThrownBy(() -> memory.matrix(1 << 14, 1 << 10))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("64.0 MiB more were asked for, 60.0 MiB of 64.0 MiB are free")
          .hasMessageContaining("jobs.token-budget");
      memory.reset();
      memory.matrix(1 << 10, 1 << 10);
    }
  }

  @Test
  void aRoundLikeTheLastAllocatesNothing() {
    try (CudaBackend backend = CudaBackend.open(0, STAGING);
        Workspace memory = backend.workspace()) {
      for (int i = 0; i < 3; i++) {
        memory.reset();
        work(backend, memory, 100 + 10 * i);
      }
      memory.reset();
      long held = memory.bytesHeld();
      long allocations = CudaEmulator.live(CudaEmulator.Kind.MEMORY);
      for (int i = 0; i < 5; i++) {
        CudaEmulator.failAllocation(0);
        work(backend, memory, 120 - i);
        memory.reset();
      }
      assertThat(memory.bytesHeld()).isEqualTo(held).isLessThanOrEqualTo(memory.peakBytes());
      assertThat(CudaEmulator.live(CudaEmulator.Kind.MEMORY)).isEqualTo(allocations);
    }
  }

  @Test
  void nothingIsUsedAfterItsTime() {
    CudaBackend backend = CudaBackend.open(0, STAGING);
    Workspace memory = backend.workspace();
    Matrix x = memory.zeros(2, 2);
    Ints ints = memory.ints(1);
    memory.reset();
    assertThatThrownBy(x::toArray)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("was reset or closed");
    assertThatThrownBy(() -> ints.read(new int[1])).isInstanceOf(IllegalStateException.class);
    Matrix y = memory.zeros(2, 2);
    memory.close();
    memory.close();
    assertThatThrownBy(() -> memory.matrix(1, 1)).hasMessage("this workspace is closed");
    assertThatThrownBy(() -> backend.ops().add(y, y, y)).isInstanceOf(IllegalStateException.class);
    backend.close();
    backend.close();
    assertThatThrownBy(() -> backend.workspace().matrix(1, 1)).hasMessage("this backend is closed");
  }
}
