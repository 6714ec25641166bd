package org.draftmill.operators.gpu;

import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * The GPUs of this process that are leased, and by whom.
 *
 * <p>Each job of a session cluster has a class loader and with it classes of its own; what the jobs
 * in one TaskManager have in common is the JVM. So the table is kept in its system properties, one
 * for each leased GPU: {@code draftmill.gpu.3.holder}. They hold strings alone, keep no class
 * loader alive, and {@code jcmd PID VM.system_properties} shows them.
 */
final class LeasedGpus {
  private LeasedGpus() {}

  /** Leases the first of {@code claim}'s GPUs that is free; empty if none is. */
  static Optional<String> take(GpuClaim claim) {
    return claim.gpus().stream()
        .filter(gpu -> table().putIfAbsent(key(gpu), claim.holder()) == null)
        .findFirst();
  }

  /** Gives a GPU back, if it is {@code holder} that has it. */
  static void giveBack(String gpu, String holder) {
    table().remove(key(gpu), holder);
  }

  /** Who has which of the GPUs, for a message. */
  static String describe(List<String> gpus) {
    return gpus.stream()
        .map(gpu -> "%s: %s".formatted(gpu, table().getProperty(key(gpu), "free")))
        .collect(Collectors.joining("; "));
  }

  private static String key(String gpu) {
    return "draftmill.gpu." + gpu + ".holder";
  }

  private static Properties table() {
    return System.getProperties();
  }
}
