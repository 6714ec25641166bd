package org.draftmill.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.ops.Backend;
import org.junit.jupiter.api.Test;

/** In a Java of its own that lacks the incubator module the backend falls back, and says so. */
class WithoutVectorModuleTest {

  /** What the other Java runs: prints a number of every result of some operations. */
  public static final class Main {
    private Main() {}

    public static void main(String[] args) {
      try (Backend backend = new CpuBackend(1)) {
        System.out.println("results " + fingerprint(backend));
      }
    }
  }

  @Test
  void givesTheSameBits() throws IOException, InterruptedException {
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(java.waitFor()).as(output).isZero();
    try (Backend backend = new CpuBackend(1)) {
      assertThat(output).contains("results " + fingerprint(backend));
    }
  }

  private static long fingerprint(Backend backend) {
    long hash = 0;
    for (OpCases.OpCase op : OpCases.some()) {
      List<float[]> results = op.on(backend);
      for (float[] result : results) {
        for (float value : result) {
          hash = 31 * hash + Float.floatToIntBits(value);
        }
      }
    }
    return hash;
  }
}
