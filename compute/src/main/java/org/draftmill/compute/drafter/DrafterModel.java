package org.draftmill.compute.drafter;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.draftmill.compute.decoding.DraftModel;
import org.draftmill.compute.decoding.DraftSession;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetHead;

/**
 * A draft model on a device: its weights and layers, with the embedding and the vocabulary head of
 * the target, which stay frozen. {@link DrafterTrainer} trains it, decoding drafts with it.
 */
public final class DrafterModel implements DraftModel, AutoCloseable {
  private final Backend backend;
  private final DrafterConfig config;
  private final ParameterLayout layout;
  private final Matrix embedding; // [vocabulary, H] of the target, frozen
  private final Weight head; // [vocabulary, H] of the target, frozen
  private final Workspace memory;
  private final DrafterWeights weights;
  private final List<DrafterLayer> layers = new ArrayList<>();

  /**
   * @param target embedding and vocabulary head on the same backend; must outlive this model
   * @param masters all weights {@code [layout.size()]} in fp32
   */
  public DrafterModel(Backend backend, DrafterConfig config, TargetHead target, float[] masters) {
    this(backend, config, target.embedding(), target.lmHead(), masters);
  }

  DrafterModel(
      Backend backend, DrafterConfig config, Matrix embedding, Weight head, float[] masters) {
    this.backend = backend;
    this.config = config;
    this.layout = new ParameterLayout(config);
    this.embedding = embedding;
    this.head = head;
    this.memory = backend.workspace();
    this.weights = new DrafterWeights(layout, backend, memory, masters);
    RopeTable rope = config.rope().table(config.heads().headDim());
    for (int l = 0; l < config.layers(); l++) {
      layers.add(
          new DrafterLayer(backend.ops(), config, rope, weights.layers.get(l), layout.layer(l)));
    }
  }

  /**
   * Loads an exported drafter for decoding.
   *
   * @param target that it will draft for
   */
  public static DrafterModel load(Path folder, TargetHead target, Backend backend) {
    DrafterExport.Exported exported = DrafterExport.read(folder);
    exported.config().requireFits(target.config(), folder);
    return new DrafterModel(backend, exported.config(), target, exported.weights());
  }

  /** Replaces all weights by {@code masters} {@code [layout.size()]} of the same backend. */
  void load(Masters masters) {
    weights.load(masters);
  }

  public DrafterConfig config() {
    return config;
  }

  public ParameterLayout layout() {
    return layout;
  }

  @Override
  public int blockSize() {
    return config.blockSize();
  }

  @Override
  public Taps taps() {
    return config.taps();
  }

  @Override
  public DraftSession open(int maxLength) {
    return new DrafterSession(this, backend, maxLength);
  }

  /** Device memory of the weights. */
  public long bytesHeld() {
    return memory.bytesHeld();
  }

  /**
   * {@code context = rmsNorm(W_fc·taps)}.
   *
   * @param taps {@code [n, K·H]}
   * @param fused {@code [n, H]} is overwritten with the value before the norm
   * @param context {@code [n, H]} is overwritten; may be fused
   */
  void fuse(Matrix taps, Matrix fused, Matrix context) {
    Ops ops = backend.ops();
    ops.linear(taps, weights.fc, fused);
    ops.rmsNorm(fused, weights.hiddenNorm, config.rmsNormEps(), context);
  }

  DrafterWeights weights() {
    return weights;
  }

  DrafterLayer layer(int index) {
    return layers.get(index);
  }

  /** The target's embedding {@code [vocabulary, H]}. */
  Matrix embedding() {
    return embedding;
  }

  /** The target's vocabulary head {@code [vocabulary, H]}. */
  Weight head() {
    return head;
  }

  @Override
  public void close() {
    memory.close();
  }
}
