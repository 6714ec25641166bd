package org.draftmill.box;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;

/** GPUs where there are none: Flink counts and hands them out, computing stays on the CPU. */
final class Gpus {
  private Gpus() {}

  /** Lets each TaskManager report {@code count} GPUs. */
  static void fake(Configuration flink, Layout layout, int count) {
    if (count < 1) {
      throw BoxException.unusable("--gpus %d must be at least 1.", count);
    }
    Path script = layout.conf().resolve("fake-gpus.sh");
    String indexes =
        IntStream.range(0, count).mapToObj(String::valueOf).collect(Collectors.joining(","));
    try {
      Files.writeString(
          script,
          "#!/bin/sh\n# Prints the indexes of the GPUs that are there.\necho " + indexes + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!script.toFile().setExecutable(true)) {
      throw BoxException.failed("%s cannot be made executable.", script);
    }
    flink.setString("external-resources", "gpu");
    flink.setString("external-resource.gpu.amount", Integer.toString(count));
    flink.setString(
        "external-resource.gpu.driver-factory.class",
        "org.apache.flink.externalresource.gpu.GPUDriverFactory");
    flink.setString("external-resource.gpu.param.discovery-script.path", script.toString());
  }
}
