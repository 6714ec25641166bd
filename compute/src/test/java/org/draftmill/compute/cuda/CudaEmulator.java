package org.draftmill.compute.cuda;

import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * CUDA without a GPU: the emulator in place of the driver, for the tests of a class. Its devices
 * are there only while such a class runs. Where there is no compiler the tests are reported as
 * skipped.
 */
public final class CudaEmulator
    implements ExecutionCondition, BeforeAllCallback, BeforeEachCallback, AfterAllCallback {

  /** When work on streams is done: as late as possible, at once, or at random. */
  enum Order {
    LATE,
    AT_ONCE,
    RANDOM
  }

  /** What the emulator counts. */
  enum Kind {
    MEMORY,
    PINNED,
    STREAMS,
    EVENTS,
    MODULES,
    CONTEXTS
  }

  private static final long MEMORY = 2L << 30;

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (!System.getProperty("os.name").equals("Linux")) {
      return ConditionEvaluationResult.disabled("the emulator of CUDA runs on Linux");
    }
    return EmulatorBuild.possible()
        ? ConditionEvaluationResult.enabled("g++ is there")
        : ConditionEvaluationResult.disabled("the emulator of CUDA needs g++, which was not found");
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    start();
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    reset();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    setDevices(0);
  }

  /** One device of capability 8.0 with a driver of R525, work done as late as possible. */
  static void reset() {
    setDevices(1);
    setDevice(80, MEMORY, 12000, 80);
    order(Order.LATE, 1);
    setRaceChecks(true);
    failAllocation(-1);
  }

  static void start() {
    Loaded.require();
  }

  static void order(Order order, long seed) {
    setOrder(order.ordinal(), seed);
  }

  static long live(Kind kind) {
    return live(kind.ordinal());
  }

  /** Puts the kernels of a library in the place of those of the same names. */
  static void use(Path library) {
    String trouble = addKernels(library.toString());
    if (trouble != null) {
      throw new IllegalStateException(trouble);
    }
  }

  private static native String addKernels(String library);

  static native void setDevices(int count);

  /**
   * @param capability 80 for 8.0
   * @param driver its version, 12000 for 12.0
   * @param ptxVersion the newest PTX it takes, 80 for 8.0
   */
  static native void setDevice(int capability, long memory, int driver, int ptxVersion);

  private static native void setOrder(int order, long seed);

  /** Whether two threads that touch the same place without a barrier between them are a failure. */
  static native void setRaceChecks(boolean on);

  /** Lets an allocation fail: the next one (0), a later one, or none (−1). */
  static native void failAllocation(int afterwards);

  private static native long live(int kind);

  /** Kernels launched so far. */
  static native long launches();

  private static final class Loaded {
    static {
      System.load(EmulatorBuild.driver().toString());
      for (Path source : EmulatorBuild.kernelSources()) {
        use(EmulatorBuild.kernels(source));
      }
    }

    static void require() {
      // the class is initialized
    }
  }
}
