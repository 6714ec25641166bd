package org.draftmill.compute.cpu;

import org.draftmill.compute.host.HostClock;
import org.draftmill.compute.host.HostExactSums;
import org.draftmill.compute.host.HostMasters;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The processor, by the Java Vector API and a fixed number of threads; plain Java loops where the
 * incubator module is absent, with the same results to the bit but slower by an order of magnitude.
 * Products are chains of fused multiply-adds in ascending order; sums along a row use a tree of
 * fixed shape: nothing depends on threads, vector width or the number of rows.
 */
public final class CpuBackend implements Backend {
  public static final String NAME = "cpu";

  private static final Logger LOG = LoggerFactory.getLogger(CpuBackend.class);

  private final Kernels kernels;
  private final Parallel parallel;
  private final CpuOps ops;
  private final HostClock encoding = new HostClock();

  /**
   * @param threads threads that compute, the caller's included; at least 1
   */
  public CpuBackend(int threads) {
    this(threads, Choice.KERNELS);
  }

  CpuBackend(int threads, Kernels kernels) {
    this.kernels = kernels;
    this.parallel = new Parallel(threads, "draftmill-cpu");
    this.ops = new CpuOps(kernels, parallel);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Ops ops() {
    return ops;
  }

  @Override
  public Workspace workspace() {
    return new CpuWorkspace(encoding, kernels.panel(), parallel);
  }

  @Override
  public ExactSums exactSums(int size) {
    return new HostExactSums(size);
  }

  @Override
  public Masters masters(float[] weights, int from, int to) {
    return new HostMasters(weights, from, to);
  }

  @Override
  public DeviceClock clock() {
    return new HostClock();
  }

  @Override
  public double encodingSeconds() {
    return encoding.seconds();
  }

  @Override
  public long bytesHeld() {
    return ops.bytesHeld();
  }

  @Override
  public void close() {
    parallel.close();
  }

  /** Made once a process, at first use, so that a warning comes once. */
  private static final class Choice {
    static final Kernels KERNELS = choose();

    private static Kernels choose() {
      if (!CpuFeatures.fusedMultiplyAdd()) {
        LOG.warn(
            "This processor has no fused multiply-add: the cpu backend uses slow plain loops, and"
                + " its results differ in the last bits from those of other machines.");
        return new Kernels();
      }
      if (ModuleLayer.boot().findModule("jdk.incubator.vector").isEmpty()) {
        LOG.warn(
            "The Vector API is absent: the cpu backend uses plain loops, several times slower. Start"
                + " Java with --add-modules=jdk.incubator.vector.");
        return new Kernels();
      }
      return VectorChoice.kernels();
    }
  }

  /** Apart, so that vector classes are loaded only where they exist. */
  private static final class VectorChoice {
    static Kernels kernels() {
      return new VectorKernels();
    }
  }
}
