package org.draftmill.compute.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.ModelFiles;
import org.draftmill.compute.io.SafetensorsFile;
import org.draftmill.compute.io.SafetensorsWriter;
import org.draftmill.compute.io.StoredTensor;
import org.draftmill.compute.ops.Matrix;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TargetModelTest {
  private static final Path MODEL = TestingTargets.folder("qwen3-wide-head");
  private static final int[] IDS = {5, 80, 3, 159, 0, 7, 7};
  private static final int[] STARTS = {0, 3, 7};

  @TempDir Path folder;
  private final TestingBackend backend = new TestingBackend();

  @Test
  void loadsAndRunsNoLayerAboveTheLastTap() throws Exception {
    TargetConfig config = TargetConfig.read(MODEL);
    Taps taps = Taps.of(0, 2);
    TargetModel.Parts parts = TargetModel.Parts.forExtraction(config, taps, false);
    assertThat(parts).isEqualTo(new TargetModel.Parts(3, false));
    try (TargetModel whole = TargetModel.load(MODEL, backend);
        TargetModel part = TargetModel.load(config, parts, backend);
        Forward expected = whole.forward(IDS, STARTS, taps, true);
        Forward found = part.forward(IDS, STARTS, taps, false)) {
      assertThat(found.taps().toArray()).isEqualTo(expected.taps().toArray());
      assertThat(found.finalColumns()).isZero();
      assertThatThrownBy(found::finalStates).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> part.forward(IDS, STARTS, taps, true))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("5 layers", "3");
      assertThatThrownBy(() -> part.open(taps, 8)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void encodesRangesOfRows() throws Exception {
    Taps taps = Taps.of(1, 3);
    try (TargetModel model = TargetModel.load(MODEL, backend);
        Forward forward = model.forward(IDS, STARTS, taps, true)) {
      int columns = forward.tapColumns();
      ByteBuffer bytes =
          ByteBuffer.allocateDirect(2 * columns * 4 + 4).order(ByteOrder.LITTLE_ENDIAN).position(4);
      forward.encodeTaps(2, 4, DType.F32, bytes);
      assertThat(bytes.hasRemaining()).isFalse();
      float[] found = new float[2 * columns];
      bytes.position(4).asFloatBuffer().get(found);
      assertThat(found)
          .isEqualTo(Arrays.copyOfRange(forward.taps().toArray(), 2 * columns, 4 * columns));

      ByteBuffer halves = ByteBuffer.allocate(forward.finalColumns() * 2);
      forward.encodeFinal(6, 7, DType.BF16, halves);
      assertThat(halves.hasRemaining()).isFalse();
    }
  }

  @Test
  void aResultOutlivesTheNextPassAndAThirdWaitsForABuffer() throws Exception {
    Taps taps = Taps.of(4);
    try (TargetModel model = TargetModel.load(MODEL, backend)) {
      Forward first = model.forward(IDS, STARTS, taps, false);
      float[] before = first.taps().toArray();
      Forward second = model.forward(new int[] {9, 9, 9}, new int[] {0, 3}, taps, false);
      assertThat(first.taps().toArray()).isEqualTo(before);

      CompletableFuture<Forward> third =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return model.forward(IDS, STARTS, taps, false);
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThat(third).isNotDone();
      first.close();
      first.close();
      try (Forward done = third.get(10, TimeUnit.MINUTES)) {
        assertThat(done.taps().toArray()).isEqualTo(before);
      }
      assertThatThrownBy(first::taps).isInstanceOf(IllegalStateException.class);
      second.close();
    }
  }

  @Test
  void anotherThreadPacksWhileTheNextPassRuns() throws Exception {
    Taps taps = Taps.of(0, 4);
    ExecutorService packer = Executors.newSingleThreadExecutor();
    try (TargetModel model = TargetModel.load(MODEL, backend)) {
      List<Future<byte[]>> packed = new ArrayList<>();
      for (int job = 0; job < 60; job++) {
        Forward forward = model.forward(idsOf(job), new int[] {0, 1 + job % 7}, taps, true);
        packed.add(packer.submit(() -> pack(forward)));
      }
      for (int job = 0; job < packed.size(); job++) {
        Forward again = model.forward(idsOf(job), new int[] {0, 1 + job % 7}, taps, true);
        assertThat(packed.get(job).get()).as("job %d", job).isEqualTo(pack(again));
      }
    } finally {
      packer.shutdown();
    }
  }

  private static int[] idsOf(int job) {
    int[] ids = new int[1 + job % 7];
    Arrays.setAll(ids, i -> (job * 31 + i * 7) % 160);
    return ids;
  }

  private static byte[] pack(Forward forward) {
    try (forward) {
      int columns = forward.tapColumns() + forward.finalColumns();
      ByteBuffer bytes = ByteBuffer.allocate(forward.rows() * columns * 2);
      forward.encodeTaps(0, forward.rows(), DType.BF16, bytes);
      forward.encodeFinal(0, forward.rows(), DType.BF16, bytes);
      return bytes.array();
    }
  }

  @Test
  void allocatesNothingOnceTheLargestJobWasSeen() throws Exception {
    Taps taps = Taps.of(0, 4);
    try (TargetModel model = TargetModel.load(MODEL, backend)) {
      for (int i = 0; i < TargetModel.RESULTS; i++) {
        model.forward(IDS, STARTS, taps, true).close();
      }
      long bytes = backend.bytesHeld();
      int workspaces = backend.workspacesMade();
      for (int rows = 1; rows <= IDS.length; rows++) {
        model.forward(Arrays.copyOf(IDS, rows), new int[] {0, rows}, taps, true).close();
      }
      assertThat(backend.bytesHeld()).isEqualTo(bytes);
      assertThat(backend.workspacesMade()).isEqualTo(workspaces);
    }
    assertThat(backend.bytesHeld()).isZero();
  }

  @Test
  void estimatesTheMemoryItTakes() throws Exception {
    TargetConfig config = TargetConfig.read(TestingTargets.folder("llama3-gqa"));
    Taps taps = Taps.of(1, 3, 4);
    int rows = 300;
    TargetMemory estimate = TargetMemory.forExtraction(config, taps, true, rows, false);
    TargetModel.Parts parts = TargetModel.Parts.forExtraction(config, taps, true);
    try (TargetModel model = TargetModel.load(config, parts, backend)) {
      for (int i = 0; i < TargetModel.RESULTS; i++) {
        model.forward(new int[rows], new int[] {0, rows / 2, rows}, taps, true).close();
      }
      // Host arrays are up to a quarter longer than asked for.
      assertThat((double) backend.bytesHeld() / estimate.total()).isBetween(0.8, 1.25);
    }
  }

  @Test
  void countsTheParametersOfEveryFamily() throws IOException {
    for (String name : TestingTargets.DENSE) {
      assertThat(TargetConfig.read(TestingTargets.folder(name)).parameters())
          .as(name)
          .isEqualTo(storedElements(TestingTargets.folder(name)));
    }
    assertThat(TargetConfig.read(TestingTargets.demo()).parameters())
        .isEqualTo(storedElements(TestingTargets.demo()));
  }

  private static long storedElements(Path model) {
    try (ModelFiles files = ModelFiles.open(model)) {
      return files.names().stream().mapToLong(name -> files.tensor(name).elements()).sum();
    }
  }

  @Test
  void namesAnIdOutsideTheVocabulary() throws Exception {
    try (TargetModel model = TargetModel.load(MODEL, backend)) {
      for (int id : new int[] {-1, 160}) {
        assertThatThrownBy(
                () -> model.forward(new int[] {0, id}, new int[] {0, 2}, Taps.of(0), false))
            .isInstanceOf(InputException.class)
            .hasMessageContainingAll("Row 1", String.valueOf(id), "160");
      }
      assertThatThrownBy(() -> model.forward(IDS, STARTS, Taps.of(5), false))
          .isInstanceOf(InputException.class)
          .hasMessageContainingAll("layer 5", "0 to 4");
    }
  }

  @Test
  void refusesMoreTokensThanASessionHolds() {
    try (TargetModel model = TargetModel.load(MODEL, backend);
        TargetSession session = model.open(null, 5)) {
      session.prefill(new int[] {1, 2, 3});
      assertThatThrownBy(() -> session.decode(1, 2, 3))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContainingAll("3 tokens", "at most 5");
      assertThat(session.decode(4, 5).logits().rows()).isEqualTo(2);
    }
  }

  @Test
  void namesAMissingTensor() throws IOException {
    rewrite("model.layers.3.self_attn.k_norm.weight", null);
    assertThatThrownBy(() -> TargetModel.load(folder, backend))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll(folder.toString(), "'model.layers.3.self_attn.k_norm.weight'");
    assertThat(backend.bytesHeld()).isZero();
  }

  @Test
  void namesATensorOfAnotherShape() throws IOException {
    rewrite("lm_head.weight", new long[] {48, 160});
    assertThatThrownBy(() -> TargetModel.load(folder, backend))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll("'lm_head.weight'", "[48, 160]", "[160, 48]", "config.json");
  }

  @Test
  void refusesWeightsOfSomethingElse() throws IOException {
    Files.copy(MODEL.resolve("config.json"), folder.resolve("config.json"));
    new SafetensorsWriter()
        .floats("bert.embeddings", new float[2], 2)
        .write(folder.resolve("model.safetensors"));
    assertThatThrownBy(() -> TargetModel.load(folder, backend))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("'model.embed_tokens.weight'");
  }

  @Test
  void readsWeightsWithoutPrefixAndInShardsAlike() throws Exception {
    Map<String, String> shards = new TreeMap<>();
    SafetensorsWriter[] writers = {new SafetensorsWriter(), new SafetensorsWriter()};
    try (SafetensorsFile file = SafetensorsFile.open(MODEL.resolve("model.safetensors"))) {
      for (StoredTensor tensor : file.tensors().values()) {
        String name = tensor.name().replaceFirst("^model\\.", "");
        int shard = name.hashCode() & 1;
        copy(writers[shard], name, tensor.shape(), tensor);
        shards.put(name, "\"" + name + "\":\"" + shard + ".safetensors\"");
      }
      writers[0].write(folder.resolve("0.safetensors"));
      writers[1].write(folder.resolve("1.safetensors"));
    }
    Files.writeString(
        folder.resolve("model.safetensors.index.json"),
        "{\"weight_map\":{" + String.join(",", shards.values()) + "}}");
    Files.copy(MODEL.resolve("config.json"), folder.resolve("config.json"));
    try (TargetModel plain = TargetModel.load(MODEL, backend);
        TargetModel sharded = TargetModel.load(folder, backend);
        Forward expected = plain.forward(IDS, STARTS, Taps.of(4), false);
        Forward found = sharded.forward(IDS, STARTS, Taps.of(4), false)) {
      assertThat(found.taps().toArray()).isEqualTo(expected.taps().toArray());
    }
  }

  @Test
  void theHeadAloneIsThatOfTheModel() {
    for (String name : new String[] {"qwen3-wide-head", "llama-mha-tied"}) {
      Path path = TestingTargets.folder(name);
      try (TargetModel model = TargetModel.load(path, backend);
          TargetHead head = TargetHead.load(path, backend)) {
        assertThat(head.embedding().toArray()).isEqualTo(model.head().embedding().toArray());
        assertThat(logits(head)).isEqualTo(logits(model.head()));
      }
    }
    assertThat(backend.bytesHeld()).isZero();
  }

  private float[] logits(TargetHead head) {
    int hidden = head.config().hidden();
    float[] state = new float[hidden];
    for (int i = 0; i < hidden; i++) {
      state[i] = i % 7 - 3;
    }
    try (var workspace = backend.workspace()) {
      Matrix out = workspace.matrix(1, head.lmHead().outputs());
      backend.ops().linear(workspace.matrix(1, hidden, state), head.lmHead(), out);
      return out.toArray();
    }
  }

  /** Copies the model with one tensor in another shape, or left out. */
  private void rewrite(String changed, long[] shape) throws IOException {
    Files.copy(MODEL.resolve("config.json"), folder.resolve("config.json"));
    SafetensorsWriter writer = new SafetensorsWriter();
    try (SafetensorsFile file = SafetensorsFile.open(MODEL.resolve("model.safetensors"))) {
      for (StoredTensor tensor : file.tensors().values()) {
        boolean same = !tensor.name().equals(changed);
        if (same || shape != null) {
          copy(writer, tensor.name(), same ? tensor.shape() : shape, tensor);
        }
      }
      writer.write(folder.resolve("model.safetensors"));
    }
  }

  private static void copy(SafetensorsWriter to, String name, long[] shape, StoredTensor tensor) {
    to.tensor(name, tensor.type(), shape, sink -> sink.append(tensor.map(0, tensor.bytes())));
  }
}
