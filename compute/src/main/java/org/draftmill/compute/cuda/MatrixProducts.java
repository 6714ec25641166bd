package org.draftmill.compute.cuda;

import java.util.Locale;

/** What multiplies matrices on a GPU. */
public enum MatrixProducts {
  /** {@link #CUBLAS} where its library is there, else {@link #OWN}. */
  AUTO,

  /** Our own kernels: a row of a result does not depend on the rows beside it. */
  OWN,

  /** NVIDIA's library, or nothing: faster; the bits of a result depend on its shape and version. */
  CUBLAS;

  /** As options name it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
