package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** On a device that does nothing before somebody waits for it. */
@Tag(CudaEmulator.TAG)
@ExtendWith(CudaEmulator.class)
class CudaClockTest {
  private CudaBackend backend;
  private Workspace memory;
  private Matrix x;
  private DeviceClock clock;

  @BeforeEach
  void open() {
    backend = CudaBackend.open(0, 1 << 12);
    memory = backend.workspace();
    x = memory.matrix(100, 30, new float[3000]);
    clock = backend.clock();
  }

  @AfterEach
  void close() {
    clock.close();
    memory.close();
    backend.close();
    assertThat(CudaEmulator.live(CudaEmulator.Kind.EVENTS)).isZero();
  }

  private void work() {
    clock.start();
    backend.ops().add(x, x, x);
    clock.stop();
  }

  @Test
  void countsWorkOnceItIsDoneAndNeverWaits() {
    work();
    work();
    assertThat(clock.seconds()).isZero();
    x.toArray();
    double two = clock.seconds();
    assertThat(two).isPositive();
    backend.ops().add(x, x, x);
    x.toArray();
    assertThat(clock.seconds()).isEqualTo(two);
    work();
    x.toArray();
    assertThat(clock.seconds()).isGreaterThan(two);
  }

  @Test
  void eventsServeAgain() {
    work();
    x.toArray();
    long events = CudaEmulator.live(CudaEmulator.Kind.EVENTS);
    for (int i = 0; i < 100; i++) {
      work();
      x.toArray();
    }
    assertThat(CudaEmulator.live(CudaEmulator.Kind.EVENTS)).isLessThanOrEqualTo(events + 64);
    double seconds = clock.seconds();
    clock.close();
    clock.close();
    assertThat(clock.seconds()).isEqualTo(seconds);
  }

  @Test
  void whatFailedBetweenStartAndStopIsLeftOut() {
    clock.start();
    work();
    x.toArray();
    assertThat(clock.seconds()).isPositive();
    assertThatThrownBy(clock::stop).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void closingCountsWhatIsDone() {
    work();
    x.toArray();
    clock.close();
    assertThat(clock.seconds()).isPositive();
  }

  @Test
  void theBackendClosesTheClocksThatWereLeft() {
    work();
    backend.close();
    assertThat(CudaEmulator.live(CudaEmulator.Kind.EVENTS)).isZero();
    assertThat(clock.seconds()).isZero();
  }

  @Test
  void encodingIsMeasuredOnItsOwnStream() {
    backend.ops().add(x, x, x);
    for (DType dtype : DType.values()) {
      double before = backend.encodingSeconds();
      ByteBuffer bytes = ByteBuffer.allocate(3000 * dtype.bytes());
      memory.encode(x, dtype, bytes);
      assertThat(bytes.hasRemaining()).isFalse();
      memory.encode(x.rows(0, 1), dtype, bytes.clear()); // the next use sees the last one done
      assertThat(backend.encodingSeconds()).isGreaterThan(before);
    }
    assertThat(clock.seconds()).isZero();
  }
}
