package org.draftmill.compute.cuda;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * CUDA without a GPU: the emulator in place of the driver, for the tests of a class. Its devices
 * are there only while such a class runs. Where there is no compiler the tests are reported as
 * skipped. With {@code -Pgpu} the tests run on the real GPU, but for those tagged {@value #TAG},
 * which are about the emulator or steer it.
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
  public enum Kind {
    MEMORY,
    PINNED,
    STREAMS,
    EVENTS,
    MODULES,
    CONTEXTS,
    /** Of cuBLAS. */
    HANDLES
  }

  /** Of tests that make no sense on a GPU. */
  public static final String TAG = "emulator";

  private static final long MEMORY = 2L << 30;

  /** What other classes of tests left. */
  private static final long[] BEFORE = new long[Kind.values().length];

  private static final boolean ON_GPU = Boolean.getBoolean("draftmill.gpu");

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (ON_GPU) {
      return context.getTags().contains(TAG)
          ? ConditionEvaluationResult.disabled("needs the emulator, and this is a GPU")
          : ConditionEvaluationResult.enabled("on the GPU");
    }
    if (!System.getProperty("os.name").equals("Linux")) {
      return ConditionEvaluationResult.disabled("the emulator of CUDA runs on Linux");
    }
    return EmulatorBuild.possible()
        ? ConditionEvaluationResult.enabled("g++ is there")
        : ConditionEvaluationResult.disabled("the emulator of CUDA needs g++, which was not found");
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    if (!ON_GPU) {
      Loaded.require();
      for (Kind kind : Kind.values()) {
        BEFORE[kind.ordinal()] = live(kind.ordinal());
      }
    }
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    if (!ON_GPU) {
      reset();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (!ON_GPU) {
      for (Kind kind : Kind.values()) {
        if (live(kind) != 0) {
          System.err.printf("%s leaves %d %s%n", context.getDisplayName(), live(kind), kind);
        }
      }
      setDevices(0);
    }
  }

  /** One device of capability 8.0 with a driver of R525, work done as late as possible. */
  private static void reset() {
    setDevices(1);
    setDevice(80, MEMORY, 12000, 80);
    order(Order.LATE, 1);
    setRaceChecks(true);
    setLibrary(true);
    failAllocation(-1);
    setPeers(true);
  }

  static void order(Order order, long seed) {
    setOrder(order.ordinal(), seed);
  }

  /** How many there are that were not there before this class of tests; 0 on a GPU. */
  public static long live(Kind kind) {
    return ON_GPU ? 0 : live(kind.ordinal()) - BEFORE[kind.ordinal()];
  }

  /** Puts the kernels of a library in the place of those of the same names. */
  static void use(Path library) {
    String trouble = addKernels(library.toString());
    if (trouble != null) {
      throw new IllegalStateException(trouble);
    }
  }

  private static native String addKernels(String library);

  /**
   * What a process that knows nothing of the emulator must find in its environment to see GPUs.
   *
   * @param folder where the emulator is put together for it
   */
  public static Map<String, String> environment(Path folder, int devices) throws IOException {
    return EmulatorBuild.environment(folder, devices);
  }

  /** How many devices there are; each test begins with one. */
  public static native void setDevices(int count);

  /**
   * @param capability 80 for 8.0
   * @param driver its version, 12000 for 12.0
   * @param ptxVersion the newest PTX it takes, 80 for 8.0
   */
  static native void setDevice(int capability, long memory, int driver, int ptxVersion);

  private static native void setOrder(int order, long seed);

  /** Whether two threads that touch the same place without a barrier between them are a failure. */
  static native void setRaceChecks(boolean on);

  /** Whether cuBLAS starts on the devices. */
  static native void setLibrary(boolean starts);

  /** Lets an allocation fail: the next one (0), a later one, or none (−1). */
  static native void failAllocation(int afterwards);

  /** Whether the devices reach each other's memory; they do at the beginning of each test. */
  static native void setPeers(boolean reach);

  /** Copies so far from one device to another: straight, or else by way of the host. */
  public static native long copiesBetweenDevices(boolean straight);

  private static native long live(int kind);

  /** Kernels launched so far; 0 on a GPU. */
  public static long launches() {
    return ON_GPU ? 0 : launched();
  }

  private static native long launched();

  private static final class Loaded {
    static {
      System.load(EmulatorBuild.driver().toString());
      System.load(EmulatorBuild.cublas().toString());
      // Each compiler is a process of its own.
      EmulatorBuild.kernelSources().parallelStream()
          .map(EmulatorBuild::kernels)
          .toList()
          .forEach(CudaEmulator::use);
    }

    static void require() {
      // the class is initialized
    }
  }
}
