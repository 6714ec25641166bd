package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.draftmill.compute.Backends;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Forward and backward of the drafter against fp64 autograd, on every backend. */
@ExtendWith(PoisonedMemory.class)
class DrafterReferenceTest {
  private static final double FORWARD = 2e-5;
  private static final double BACKWARD = 1e-4;

  static Stream<Arguments> cases() {
    return Stream.of("reference", "cpu")
        .flatMap(backend -> ReferenceCase.NAMES.stream().map(name -> Arguments.of(backend, name)));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("cases")
  void contextLogitsLossesAndGradientsAreThoseOfAutograd(String backendName, String name) {
    try (Backend backend = Backends.open(backendName, 2)) {
      compare(backend, name, FORWARD, BACKWARD);
    }
  }

  /**
   * Everything that a pass computes with what autograd made of it.
   *
   * @param forward tolerance of values, of the largest in their tensor; {@code backward} that of
   *     gradients
   */
  static void compare(Backend backend, String name, double forward, double backward) {
    ReferenceCase reference = ReferenceCase.load(name);
    DrafterConfig config = reference.config;
    try (Workspace workspace = backend.workspace();
        DrafterModel model = model(backend, reference, workspace);
        TrainingPass training = new TrainingPass(model, backend)) {
      Pass pass = new Pass(reference.microbatch, config.blockSize(), 0, 3, reference.anchors);
      HiddenStates hidden = new HiddenStates(reference.microbatch, config, true);
      Matrix normed = training.forward(pass, hidden);

      checkContext(reference, pass, training.context().toArray(), forward);
      Matrix logits = workspace.matrix(normed.rows(), config.vocabularySize());
      backend.ops().linear(normed, model.head(), logits);
      close(logits.toArray(), reference.expected("logits"), forward, "logits");

      Matrix dNormed = training.gradientLike(normed);
      HeadLoss.Result result =
          training.headLoss(
              pass, hidden, reference.loss, 2 * config.slotsPerBlock(), normed, dNormed);
      close(result.loss(), reference.expected("slot_loss"), forward, "slot_loss");
      float[] weight = result.weight().clone();
      byte[] supervised = pass.supervised();
      double numerator = 0;
      double denominator = 0;
      for (int slot = 0; slot < weight.length; slot++) {
        weight[slot] *= supervised[slot];
        denominator += weight[slot];
        numerator +=
            weight[slot]
                * (result.loss()[slot] + reference.loss.capLambda() * result.confidence()[slot]);
      }
      close(weight, reference.expected("slot_weight"), forward, "slot_weight");
      close(new float[] {(float) numerator}, reference.expected("numerator"), forward, "numerator");
      close(
          new float[] {(float) denominator},
          reference.expected("denominator"),
          forward,
          "denominator");

      double sum = denominator;
      int[] given = {0};
      training.backward(
          dNormed,
          (parameter, gradient) -> {
            float[] mean = gradient.toArray();
            for (int i = 0; i < mean.length; i++) {
              mean[i] /= (float) sum;
            }
            close(mean, reference.expected("grad." + parameter.name()), backward, parameter.name());
            given[0]++;
          });
      assertThat(given[0]).isEqualTo(reference.layout.parameters().size());
    }
  }

  static DrafterModel model(Backend backend, ReferenceCase reference, Workspace workspace) {
    DrafterConfig config = reference.config;
    int vocabulary = config.vocabularySize();
    Matrix head = workspace.matrix(vocabulary, config.hiddenSize(), reference.head);
    return new DrafterModel(
        backend,
        config,
        workspace.matrix(vocabulary, config.hiddenSize(), reference.embedding),
        workspace.arrange(head),
        reference.weights);
  }

  private static void checkContext(
      ReferenceCase reference, Pass pass, float[] context, double tolerance) {
    float[] expected = reference.expected("context");
    int hidden = reference.config.hiddenSize();
    pass.forEachContextRange(
        (from, to, at) -> {
          float[] found = Arrays.copyOfRange(context, at * hidden, (at + to - from) * hidden);
          close(
              found,
              Arrays.copyOfRange(expected, from * hidden, to * hidden),
              tolerance,
              "context");
        });
  }

  /** Each difference is below {@code tolerance} of the largest magnitude. */
  static void close(float[] found, float[] expected, double tolerance, String what) {
    assertThat(found).as(what).hasSameSizeAs(expected);
    double largest = 0;
    for (float value : expected) {
      largest = Math.max(largest, Math.abs(value));
    }
    for (int i = 0; i < found.length; i++) {
      assertThat(Math.abs(found[i] - expected[i]))
          .as("%s[%d]: %s, not %s", what, i, found[i], expected[i])
          .isLessThanOrEqualTo((float) (tolerance * largest));
    }
  }
}
