package org.draftmill.compute.reference;

import org.draftmill.compute.host.HostClock;
import org.draftmill.compute.host.HostExactSums;
import org.draftmill.compute.host.HostMasters;
import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.host.HostWorkspace;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * Plain loops over heap arrays, every sum in double and rounded once: written to be read, and the
 * judge of every other backend. One thread.
 */
public final class ReferenceBackend implements Backend {
  public static final String NAME = "reference";

  private final Ops ops = new ReferenceOps();
  private final HostClock encoding = new HostClock();

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
    return new ReferenceWorkspace(encoding);
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
    return 0;
  }

  @Override
  public void close() {
    // holds nothing but heap memory
  }

  /** The weight as it was given. */
  record PlainWeight(HostMatrix values) implements Weight {
    @Override
    public int outputs() {
      return values.rows();
    }

    @Override
    public int inputs() {
      return values.columns();
    }
  }

  private static final class ReferenceWorkspace extends HostWorkspace {
    ReferenceWorkspace(HostClock encoding) {
      super(encoding);
    }

    @Override
    public Weight arrange(Matrix matrix) {
      return new PlainWeight(matrix(matrix.rows(), matrix.columns(), matrix.toArray()));
    }

    @Override
    public void arrange(Matrix matrix, Weight weight) {
      HostMatrix values = ((PlainWeight) weight).values();
      if (values.rows() != matrix.rows() || values.columns() != matrix.columns()) {
        throw new IllegalArgumentException(
            "a weight cannot be refilled from a matrix of another shape");
      }
      values.write(matrix.toArray(), 0);
    }
  }
}
