package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Locale;
import org.draftmill.compute.Backends;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said of drivers and devices that will not do, and which image serves which device. */
@Tag(CudaEmulator.TAG)
@ExtendWith(CudaEmulator.class)
class CudaDriverTest {
  private static final long MEMORY = 1L << 30;

  @Test
  void noDevice() {
    CudaEmulator.setDevices(0);
    assertThatThrownBy(() -> Backends.open("cuda", 1))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("the NVIDIA driver finds no GPU")
        .hasMessageContaining("CUDA_VISIBLE_DEVICES");
    try (Backend backend = Backends.open("auto", 1)) {
      assertThat(backend.name()).isEqualTo("cpu");
    }
  }

  @Test
  void anOldDriver() {
    CudaEmulator.setDevice(80, MEMORY, 11080, 78);
    assertThatThrownBy(() -> Backends.open("cuda", 1))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("it knows CUDA 11.8, Draftmill needs CUDA 12.0 (R525) or newer");
  }

  @Test
  void anOldDevice() {
    CudaEmulator.setDevice(75, MEMORY, 12000, 80);
    assertThatThrownBy(() -> Backends.open("cuda", 1))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("GPU 0 (Emulated GPU, compute capability 7.5, 1.0 GiB) is too old")
        .hasMessageContaining("8.0 (Ampere) or newer");
    try (Backend backend = Backends.open("auto", 1)) {
      assertThat(backend.name()).isEqualTo("cpu");
    }
  }

  /** Some languages have a comma where others have a point. */
  @Test
  void messagesDoNotDependOnTheLanguage() {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.GERMANY);
    try {
      anOldDevice();
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void aDeviceThatIsNotThere() {
    CudaEmulator.setDevices(2);
    try (Backend second = Backends.open("cuda", 1, 1)) {
      assertThat(((CudaBackend) second).device().index()).isEqualTo(1);
    }
    assertThatThrownBy(() -> Backends.open("cuda", 1, 2))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("GPU 2 was asked for, but this process sees 2");
    assertThatThrownBy(() -> Backends.open("auto", 1, 2)).isInstanceOf(InputException.class);
  }

  @Test
  void autoTakesTheDevice() {
    try (Backend backend = Backends.open("auto", 1)) {
      assertThat(backend.name()).isEqualTo("cuda");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "80, elementwise.sm_80.cubin, elementwise.ptx",
    "86, elementwise.sm_80.cubin, elementwise.ptx",
    "89, elementwise.sm_89.cubin, elementwise.sm_80.cubin",
    "90, elementwise.sm_90.cubin, elementwise.ptx",
    "103, elementwise.sm_100.cubin, elementwise.ptx",
    "110, elementwise.ptx, ",
    "121, elementwise.sm_120.cubin, elementwise.ptx"
  })
  void theBestImageComesFirst(int capability, String first, String second) {
    assertThat(Kernels.images("elementwise", capability)).startsWith(first);
    if (second != null) {
      assertThat(Kernels.images("elementwise", capability).get(1)).isEqualTo(second);
    }
  }

  /** 11.0 has no binary and compiles PTX; a driver that knows PTX 7.0 takes ours. */
  @ParameterizedTest
  @CsvSource({"80", "86", "89", "90", "100", "110", "120"})
  void runsOnEveryArchitecture(int capability) {
    CudaEmulator.setDevice(capability, MEMORY, 12000, 70);
    try (CudaBackend backend = CudaBackend.open(0);
        Workspace memory = backend.workspace()) {
      Matrix x = memory.matrix(1, 2, new float[] {1, 2});
      backend.ops().add(x, x, x);
      assertThat(x.toArray()).containsExactly(2, 4);
    }
  }
}
