package org.draftmill.box;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.flink.configuration.Configuration;

/** GPUs where there are none: Flink counts and hands them out. */
final class Gpus {
  private static final String DISCOVERY = "fake-gpu-discovery.sh";

  private Gpus() {}

  /** Lets each TaskManager report {@code count} GPUs. */
  static void fake(Configuration flink, Layout layout, int count) throws IOException {
    if (count < 1) {
      throw BoxException.unusable("--gpus %d must be at least 1.", count);
    }
    Path script = layout.conf().resolve(DISCOVERY);
    try (InputStream in = Gpus.class.getResourceAsStream(DISCOVERY)) {
      Files.copy(in, script, StandardCopyOption.REPLACE_EXISTING);
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
