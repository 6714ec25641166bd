package org.draftmill.compute.ops;

/**
 * A weight matrix {@code [outputs, inputs]} in the arrangement that a device multiplies fastest
 * with (packed panels, say). It holds a copy of the values it was made from: arrange it again after
 * they change.
 */
public interface Weight {
  int outputs();

  int inputs();
}
