package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The vocabulary loss with products that round nothing, so that what {@code loss.cu} does is held
 * to the reference as closely as everything else.
 */
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaHeadLossTest {
  private static final double ABSOLUTE = 3e-5;
  private static final double RELATIVE = 3e-5;

  static Stream<OpCase> cases() {
    return OpCases.all().stream().filter(op -> op.name().startsWith("head loss"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void agreesWithTheReference(OpCase op) {
    assertLikeTheReference(op);
  }

  /** More logits than the threads of a block take in one turn, and than a block differentiates. */
  @Test
  void takesALargeVocabulary() {
    int vocabulary = 8195;
    HeadLoss.Settings settings = new HeadLoss.Settings(true, 0.5f, 0.6f, 5f, 0.3f, 0.2f);
    assertLikeTheReference(
        new OpCase(
            "large vocabulary",
            (ops, in, results) -> {
              Matrix x = in.random(4, 3, 3);
              Weight head = in.memory().arrange(in.random(vocabulary, 3));
              int[] labels = {8194, 4100, 8193, 0};
              byte[] supervised = {1, 1, 0, 1};
              HeadLoss loss =
                  new HeadLoss(2, labels, supervised, new int[] {1, 0, 1, 1}, 2, settings);
              Matrix dX = in.undefined(4, 3);
              HeadLoss.Result result =
                  ops.headLoss(x, head, in.random(2, 3, 3), loss, in.memory(), dX);
              results.add(dX.toArray());
              results.add(result.loss());
              results.add(result.confidence());
              results.add(result.weight());
            }));
  }

  /** Equal logits: the lowest id counts as the largest. */
  @Test
  void tiesGoToTheLowestId() {
    HeadLoss.Settings settings = new HeadLoss.Settings(false, 1f, 0f, 4f, Float.NaN, 0f);
    int vocabulary = 600;
    float[] rows = new float[vocabulary];
    rows[7] = 1;
    rows[550] = 1;
    try (ExactProducts backend = new ExactProducts();
        Workspace memory = backend.workspace()) {
      Weight head = memory.arrange(memory.matrix(vocabulary, 1, rows));
      Matrix x = memory.matrix(4, 1, new float[] {1, 1, -1, -1});
      HeadLoss loss =
          new HeadLoss(1, new int[] {7, 550, 0, 1}, new byte[] {1, 1, 1, 1}, null, 4, settings);
      HeadLoss.Result result = backend.ops().headLoss(x, head, null, loss, memory, null);
      assertThat(result.hit()).containsExactly(1, 0, 1, 0);
    }
  }

  /** Neither the rows of a chunk nor the slots beside show in the result of a slot. */
  @Test
  void aSlotDependsOnItselfAlone() {
    Random random = new Random(2);
    HeadLoss.Settings settings = new HeadLoss.Settings(true, 2f, 0.5f, 5f, 0.3f, 0.2f);
    float[] x = floats(random, 12 * 5);
    float[] headValues = floats(random, 70 * 5);
    float[] teachers = floats(random, 3 * 5);
    int[] labels = random.ints(12, 0, 70).toArray();
    int[] teacherRows = random.ints(12, 0, 3).toArray();
    byte[] supervised = {1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1};
    try (CudaBackend backend = CudaBackend.open(0);
        Workspace memory = backend.workspace()) {
      Weight head = memory.arrange(memory.matrix(70, 5, headValues));
      Matrix teacher = memory.matrix(3, 5, teachers);
      Matrix dX = memory.matrix(12, 5);
      Matrix states = memory.matrix(12, 5, x);
      HeadLoss whole = new HeadLoss(3, labels, supervised, teacherRows, 12, settings);
      HeadLoss.Result all = backend.ops().headLoss(states, head, teacher, whole, memory, dX);
      float[] expected = dX.toArray();
      for (int chunk : new int[] {3, 6, 9}) {
        HeadLoss loss = new HeadLoss(3, labels, supervised, teacherRows, chunk, settings);
        HeadLoss.Result result = backend.ops().headLoss(states, head, teacher, loss, memory, dX);
        assertThat(dX.toArray()).as("chunks of %d", chunk).containsExactly(expected);
        assertThat(result.loss()).containsExactly(all.loss());
        assertThat(result.confidence()).containsExactly(all.confidence());
      }
      HeadLoss last =
          new HeadLoss(
              3,
              Arrays.copyOfRange(labels, 9, 12),
              Arrays.copyOfRange(supervised, 9, 12),
              Arrays.copyOfRange(teacherRows, 9, 12),
              3,
              settings);
      Matrix alone = memory.matrix(3, 5);
      backend.ops().headLoss(states.rows(9, 12), head, teacher, last, memory, alone);
      assertThat(alone.toArray()).containsExactly(Arrays.copyOfRange(expected, 45, 60));
    }
  }

  private static float[] floats(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  private static void assertLikeTheReference(OpCase op) {
    try (Backend backend = new ExactProducts();
        Backend reference = new ReferenceBackend()) {
      List<float[]> found = op.on(backend);
      List<float[]> expected = op.on(reference);
      for (int r = 0; r < expected.size(); r++) {
        assertThat(found.get(r)).hasSameSizeAs(expected.get(r));
        for (int i = 0; i < expected.get(r).length; i++) {
          float wanted = expected.get(r)[i];
          assertThat(Math.abs(found.get(r)[i] - wanted))
              .as("%s, result %d at %d: %s, wanted %s", op, r, i, found.get(r)[i], wanted)
              .isLessThanOrEqualTo((float) (ABSOLUTE + RELATIVE * Math.abs(wanted)));
        }
      }
    }
  }

  /** The cuda backend with the loss's products formed on the host, in double. */
  private static final class ExactProducts implements Backend {
    private final CudaBackend cuda = CudaBackend.open(0);
    private final Scratch scratch = new Scratch(cuda.memory(), cuda.transfers());

    private record PlainWeight(int outputs, int inputs, float[] values) implements Weight {}

    @Override
    public String name() {
      return "cuda with exact products";
    }

    @Override
    public Ops ops() {
      return replacing(
          Ops.class,
          cuda.ops(),
          (method, a) -> {
            switch (method) {
              case "headLoss":
                return new HeadLossRun(
                        cuda.launcher(),
                        scratch,
                        new Rows(cuda.launcher(), scratch),
                        ops(),
                        (Weight) a[1],
                        (HeadLoss) a[3])
                    .run((Matrix) a[0], (Matrix) a[2], (Workspace) a[4], (Matrix) a[5]);
              case "linear":
                multiply((Matrix) a[0], (PlainWeight) a[1], (Matrix) a[2], false);
                return DONE;
              case "linearBackwardInput":
                multiply((Matrix) a[0], (PlainWeight) a[1], (Matrix) a[2], true);
                return DONE;
              default:
                return null;
            }
          });
    }

    private static void multiply(Matrix x, PlainWeight w, Matrix out, boolean backward) {
      float[] from = x.toArray();
      float[] to = new float[out.rows() * out.columns()];
      for (int i = 0; i < out.rows(); i++) {
        for (int o = 0; o < out.columns(); o++) {
          double sum = 0;
          for (int c = 0; c < x.columns(); c++) {
            int at = backward ? c * w.inputs + o : o * w.inputs + c;
            sum += (double) from[i * x.columns() + c] * w.values[at];
          }
          to[i * out.columns() + o] = (float) sum;
        }
      }
      out.write(to, 0);
    }

    @Override
    public Workspace workspace() {
      return replacing(
          Workspace.class,
          cuda.workspace(),
          (method, a) -> {
            if (!method.equals("arrange")) {
              return null;
            }
            Matrix values = (Matrix) a[0];
            return new PlainWeight(values.rows(), values.columns(), values.toArray());
          });
    }

    @Override
    public ExactSums exactSums(int size) {
      return cuda.exactSums(size);
    }

    @Override
    public Masters masters(float[] weights, int from, int to) {
      return cuda.masters(weights, from, to);
    }

    @Override
    public DeviceClock clock() {
      return cuda.clock();
    }

    @Override
    public double encodingSeconds() {
      return cuda.encodingSeconds();
    }

    @Override
    public long bytesHeld() {
      return cuda.bytesHeld();
    }

    @Override
    public void close() {
      scratch.close();
      cuda.close();
    }

    private static final Object DONE = new Object();

    private interface Replacement {
      /** The result, {@link #DONE} for a method without one, null to leave it to the inner. */
      Object call(String method, Object[] arguments);
    }

    private static <T> T replacing(Class<T> type, T inner, Replacement replacement) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (proxy, method, arguments) -> {
                Object result = replacement.call(method.getName(), arguments);
                if (result != null) {
                  return result == DONE ? null : result;
                }
                try {
                  return method.invoke(inner, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              }));
    }
  }
}
