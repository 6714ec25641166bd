package org.draftmill.compute.drafter;

import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import org.draftmill.compute.DType;
import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.io.JsonConfig;
import org.draftmill.compute.io.SafetensorsFile;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;

/**
 * One folder of {@code reference/drafter}: a drafter, a batch, and what fp64 autograd makes of
 * them; {@code make_drafter.py} says what each tensor is.
 */
final class ReferenceCase {
  static final List<String> NAMES =
      List.of("plain", "soft-labels", "streak-and-confidence", "sliding");
  private static final int DOCUMENTS = 3;

  final DrafterConfig config;
  final ParameterLayout layout;
  final HeadLoss.Settings loss;
  final OptimizerSettings optimizer;
  final float[] weights; // [layout.size()]
  final float[] embedding; // [vocabulary, hidden]
  final float[] head; // [vocabulary, hidden]
  final Microbatch microbatch;
  final int[][] anchors;
  private final SafetensorsFile expected;

  private ReferenceCase(Path folder) {
    JsonConfig json = JsonConfig.read(folder.resolve("case.json"));
    config = config(json);
    layout = new ParameterLayout(config);
    loss = loss(json.object("loss").orElseThrow());
    optimizer = optimizer(json.object("adamw").orElseThrow());
    expected = SafetensorsFile.open(folder.resolve("expected.safetensors"));
    weights = new float[layout.size()];
    try (SafetensorsFile file = SafetensorsFile.open(folder.resolve("weights.safetensors"))) {
      for (Parameter parameter : layout.parameters()) {
        file.tensor(parameter.name()).requireShape(parameter.shape());
        float[] values = floats(file, parameter.name());
        System.arraycopy(values, 0, weights, parameter.offset(), values.length);
      }
      embedding = floats(file, "embed_tokens.weight");
      head = floats(file, "lm_head.weight");
    }
    try (SafetensorsFile file = SafetensorsFile.open(folder.resolve("batch.safetensors"))) {
      anchors = new int[DOCUMENTS][];
      microbatch = microbatch(file, anchors);
    }
  }

  static ReferenceCase load(String name) {
    try {
      return new ReferenceCase(
          Path.of(ReferenceCase.class.getResource("/reference/drafter/" + name).toURI()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A tensor of {@code expected.safetensors}. */
  float[] expected(String name) {
    return floats(expected, name);
  }

  private static DrafterConfig config(JsonConfig json) {
    List<Boolean> sliding =
        json.texts("layer_types").stream().map("sliding_attention"::equals).toList();
    int taps = json.integer("taps", 1, 9);
    return new DrafterConfig(
        json.integer("hidden_size", 1, 99),
        json.integer("intermediate_size", 1, 99),
        new Heads(
            json.integer("num_attention_heads", 1, 99),
            json.integer("num_key_value_heads", 1, 99),
            json.integer("head_dim", 1, 99)),
        json.integer("vocab_size", 1, 99),
        taps,
        Taps.of(ascending(taps)),
        json.integer("block_size", 1, 99),
        json.integer("mask_token_id", 0, 99),
        sliding,
        sliding.contains(true) ? json.integer("sliding_window", 1, 99) : 0,
        (float) json.number("rms_norm_eps"),
        new Rope(json.number("rope_theta"), new Rope.Unscaled()),
        512,
        OptionalInt.empty(),
        List.of());
  }

  private static int[] ascending(int count) {
    int[] values = new int[count];
    Arrays.setAll(values, i -> i);
    return values;
  }

  private static HeadLoss.Settings loss(JsonConfig json) {
    return new HeadLoss.Settings(
        json.flag("use_soft_labels", false),
        (float) json.number("kl_temperature"),
        (float) json.number("kl_weight"),
        (float) json.number("gamma"),
        (float) json.number("streak_alpha", Double.NaN),
        (float) json.number("cap_lambda"));
  }

  private static OptimizerSettings optimizer(JsonConfig json) {
    return new OptimizerSettings(
        json.number("lr"),
        0,
        OptimizerSettings.Schedule.CONSTANT,
        0,
        json.number("weight_decay"),
        json.number("clip_norm"),
        json.number("beta1"),
        json.number("beta2"),
        json.number("eps"));
  }

  private Microbatch microbatch(SafetensorsFile file, int[][] anchors) {
    int[] starts = new int[DOCUMENTS + 1];
    List<Integer> ids = new ArrayList<>();
    List<Integer> mask = new ArrayList<>();
    List<HiddenRows> hidden = new ArrayList<>();
    for (int n = 0; n < DOCUMENTS; n++) {
      String prefix = "doc." + n + ".";
      for (long id : file.tensor(prefix + "input_ids").readLongs()) {
        ids.add((int) id);
      }
      for (long m : file.tensor(prefix + "loss_mask").readLongs()) {
        mask.add((int) m);
      }
      starts[n + 1] = ids.size();
      anchors[n] =
          Arrays.stream(file.tensor(prefix + "anchors").readLongs())
              .mapToInt(a -> (int) a)
              .toArray();
      hidden.add(
          new HiddenRows(
              starts[n],
              starts[n + 1] - starts[n],
              bytes(file, prefix + "taps"),
              bytes(file, prefix + "final"),
              DType.F32));
    }
    byte[] lossMask = new byte[mask.size()];
    for (int i = 0; i < lossMask.length; i++) {
      lossMask[i] = mask.get(i).byteValue();
    }
    int[] inputIds = ids.stream().mapToInt(Integer::intValue).toArray();
    return new Microbatch(0, new long[] {0, 1, 2}, starts, inputIds, lossMask, hidden);
  }

  private static ByteBuffer bytes(SafetensorsFile file, String name) {
    return file.tensor(name).map(0, file.tensor(name).bytes());
  }

  private static float[] floats(SafetensorsFile file, String name) {
    ByteBuffer bytes = bytes(file, name).order(ByteOrder.LITTLE_ENDIAN);
    float[] values = new float[bytes.remaining() / Float.BYTES];
    bytes.asFloatBuffer().get(values);
    return values;
  }
}
