package org.draftmill.compute.drafter;

import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.Matrix;

/**
 * Takes the gradient of one tensor after the other while the backward pass goes on, so that the
 * gradient of the whole model never exists on the device at once.
 */
interface GradientSink {
  /**
   * @param gradient {@code [parameter.rows(), parameter.columns()]}, valid during this call only
   */
  void accept(Parameter parameter, Matrix gradient);
}
