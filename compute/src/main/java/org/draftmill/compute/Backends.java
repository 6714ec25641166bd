package org.draftmill.compute;

import org.draftmill.compute.cpu.CpuBackend;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.reference.ReferenceBackend;

/** Makes a backend by its name: the module's front door, the one place that knows them all. */
public final class Backends {
  private Backends() {}

  /**
   * Opens {@code reference}, {@code cpu}, or with {@code auto} the fastest one that this machine
   * has.
   *
   * @param threads how many threads the backend may use, its caller included
   * @throws InputException when the name is unknown or {@code threads} is less than one
   */
  public static Backend open(String name, int threads) {
    if (threads < 1) {
      throw new InputException("A backend needs at least one thread, found " + threads + ".");
    }
    return switch (name) {
      case ReferenceBackend.NAME -> new ReferenceBackend();
      case CpuBackend.NAME, "auto" -> new CpuBackend(threads);
      default ->
          throw new InputException(
              "Unknown device '" + name + "'; known are reference, cpu and auto.");
    };
  }
}
