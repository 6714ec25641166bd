package org.draftmill.compute.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.draftmill.compute.Backends;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostClockTest {
  @ParameterizedTest
  @ValueSource(strings = {"cpu", "reference"})
  void countsWhatPassesBetweenStartAndStop(String name) {
    try (Backend backend = Backends.open(name, 1);
        Workspace memory = backend.workspace();
        DeviceClock clock = backend.clock()) {
      Matrix x = memory.zeros(200, 200);
      assertThat(clock.seconds()).isZero();
      final long before = System.nanoTime();
      clock.start();
      backend.ops().add(x, x, x);
      clock.stop();
      double first = clock.seconds();
      assertThat(first).isPositive().isLessThanOrEqualTo((System.nanoTime() - before) * 1e-9);
      assertThat(backend.encodingSeconds()).isZero();
      memory.encode(x, DType.BF16, ByteBuffer.allocate(2 * 200 * 200));
      assertThat(backend.encodingSeconds()).isPositive();
      assertThat(clock.seconds()).isEqualTo(first);
    }
  }
}
