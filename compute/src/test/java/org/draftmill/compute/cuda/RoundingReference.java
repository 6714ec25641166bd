package org.draftmill.compute.cuda;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;

/**
 * The reference on what a tensor core is given: the operands of products and of attention's scores
 * rounded to bf16, everything else as it is.
 */
final class RoundingReference implements Backend {
  /** The arguments that are rounded, by the name of the operation. */
  private static final Map<String, int[]> OPERANDS =
      Map.of(
          "linear", new int[] {0},
          "linearBackwardInput", new int[] {0},
          "linearBackwardWeight", new int[] {0, 1},
          "causalAttention", new int[] {0, 1, 2},
          "cachedAttention", new int[] {0, 1, 2},
          "blockAttention", new int[] {0, 1, 2, 3, 4},
          "blockAttentionBackward", new int[] {1, 2, 3, 4, 5, 10},
          "headLoss", new int[] {0, 2},
          "arrange", new int[] {0});

  private final ReferenceBackend reference = new ReferenceBackend();
  private final Workspace copies = reference.workspace();

  @Override
  public String name() {
    return "reference on bf16";
  }

  @Override
  public Ops ops() {
    return rounding(Ops.class, reference.ops());
  }

  @Override
  public Workspace workspace() {
    return rounding(Workspace.class, reference.workspace());
  }

  @Override
  public ExactSums exactSums(int size) {
    return reference.exactSums(size);
  }

  @Override
  public Masters masters(float[] weights, int from, int to) {
    return reference.masters(weights, from, to);
  }

  @Override
  public DeviceClock clock() {
    return reference.clock();
  }

  @Override
  public double encodingSeconds() {
    return reference.encodingSeconds();
  }

  @Override
  public long bytesHeld() {
    return reference.bytesHeld();
  }

  @Override
  public void close() {
    copies.close();
    reference.close();
  }

  private <T> T rounding(Class<T> type, T inner) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          Object[] rounded = arguments == null ? new Object[0] : arguments.clone();
          for (int i : OPERANDS.getOrDefault(method.getName(), new int[0])) {
            rounded[i] = rounded[i] == null ? null : rounded((Matrix) rounded[i]);
          }
          try {
            return method.invoke(inner, rounded);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        };
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private Matrix rounded(Matrix matrix) {
    float[] values = matrix.toArray();
    for (int i = 0; i < values.length; i++) {
      values[i] = rounded(values[i]);
    }
    return copies.matrix(matrix.rows(), matrix.columns(), values);
  }

  /** The nearest bf16, halves to even. */
  static float rounded(float value) {
    int bits = Float.floatToRawIntBits(value);
    return Float.intBitsToFloat((bits + 0x7fff + (bits >>> 16 & 1)) & 0xffff0000);
  }
}
