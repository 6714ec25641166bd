package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.draftmill.compute.Backends;
import org.draftmill.compute.io.SafetensorsFile;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;

/** The small target models of the test resources, and what an independent judge computed. */
public final class TestingTargets {
  /** Of the largest magnitude of a tensor. */
  static final double TOLERANCE = 2e-5;

  static final String[] DENSE = {
    "llama-mha-tied", "llama3-gqa", "mistral-window", "qwen2-bias", "qwen3-wide-head"
  };

  private TestingTargets() {}

  public static Stream<Backend> backends() {
    return Stream.of("reference", "cpu").map(name -> Backends.open(name, 2));
  }

  static Path folder(String name) {
    return resource("/reference/targets/" + name);
  }

  /** The model that ships with the project. */
  public static Path demo() {
    return Path.of("..", "demo", "target");
  }

  /** Prompts of the demo target with what a judge computed for them. */
  public static Reference demoReference() {
    return new Reference(resource("/reference/demo/reference.safetensors"));
  }

  static Reference reference(String name) {
    return new Reference(folder(name).resolve("reference.safetensors"));
  }

  private static Path resource(String name) {
    try {
      return Path.of(TestingTargets.class.getResource(name).toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Tensors of a file of reference numbers. */
  public static final class Reference implements AutoCloseable {
    private final SafetensorsFile file;
    private final Backend backend = new ReferenceBackend();
    private final Workspace workspace = backend.workspace();

    private Reference(Path path) {
      this.file = SafetensorsFile.open(path);
    }

    public int[] ints(String name) {
      return Arrays.stream(file.tensor(name).readLongs()).mapToInt(Math::toIntExact).toArray();
    }

    public float[] floats(String name) {
      return file.tensor(name).read(workspace).toArray();
    }

    @Override
    public void close() {
      workspace.close();
      file.close();
    }
  }

  /** Some columns of row-major {@code values [rows, width]}. */
  static float[] columns(float[] values, int width, int from, int count) {
    float[] part = new float[values.length / width * count];
    for (int row = 0; row * width < values.length; row++) {
      System.arraycopy(values, row * width + from, part, row * count, count);
    }
    return part;
  }

  static void assertClose(String what, float[] actual, float[] expected) {
    assertClose(what, actual, expected, TOLERANCE);
  }

  /**
   * @param tolerance of every difference, as a part of the largest value
   */
  static void assertClose(String what, float[] actual, float[] expected, double tolerance) {
    assertThat(actual).as(what).hasSameSizeAs(expected);
    double largest = 0;
    double worst = 0;
    int at = 0;
    for (int i = 0; i < expected.length; i++) {
      largest = Math.max(largest, Math.abs(expected[i]));
      double difference = Math.abs((double) actual[i] - expected[i]);
      if (!(difference <= worst)) {
        worst = difference;
        at = i;
      }
    }
    assertThat(worst)
        .as("%s: worst at %d, %s instead of %s", what, at, actual[at], expected[at])
        .isLessThanOrEqualTo(tolerance * largest);
  }
}
