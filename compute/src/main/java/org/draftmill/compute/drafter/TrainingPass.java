package org.draftmill.compute.drafter;

import org.draftmill.compute.drafter.ParameterLayout.Parameter;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.HeadLoss;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;

/**
 * Forward and backward of the drafter over one {@link Pass}: the fused context once, all blocks of
 * all its documents in one go, the vocabulary in chunks. Its memory is used again by the next pass.
 *
 * <pre>
 * c = rmsNorm(W_fc · taps)      [context rows, H]
 * x = embed([token_a, MASK…])   [blocks·B, H]
 * x = layer(x, c) for each layer
 * z = lm_head · rmsNorm(x)      slots 1 … B − 1
 * </pre>
 */
final class TrainingPass implements AutoCloseable {
  private final DrafterModel model;
  private final DrafterConfig config;
  private final ParameterLayout layout;
  private final Ops ops;
  private final Workspace activations;
  private final Workspace temporary;

  private Matrix taps; // [context rows, K·H]
  private Matrix fused; // [context rows, H] before the norm
  private Matrix context; // [context rows, H]
  private Matrix slotStates; // [slots, H] before the norm
  private int queryRows;

  TrainingPass(DrafterModel model, Backend backend) {
    this.model = model;
    this.config = model.config();
    this.layout = model.layout();
    this.ops = backend.ops();
    this.activations = backend.workspace();
    this.temporary = backend.workspace();
  }

  /**
   * @return normed states of the drafted slots {@code [slots, H]}, valid until the next pass
   */
  Matrix forward(Pass pass, HiddenStates hidden) {
    activations.reset();
    temporary.reset();
    queryRows = pass.queryRows();
    readContext(pass, hidden);
    Ints contextPositions = activations.ints(pass.contextPositions());
    Ints queryPositions = activations.ints(pass.queryPositions());
    Ints distinct = activations.ints(pass.distinctOfQuery());
    Ints slots = activations.ints(pass.slotRows());
    Ints tokens = activations.ints(pass.distinctTokens(config.maskToken()));
    Matrix inputs = activations.matrix(tokens.size(), config.hiddenSize());
    ops.embed(model.embedding(), tokens, inputs);
    Matrix x = activations.matrix(queryRows, config.hiddenSize());
    ops.gatherRows(inputs, distinct, x);
    for (int l = 0; l < config.layers(); l++) {
      boolean first = l == 0;
      boolean last = l == config.layers() - 1;
      DrafterLayer.Rows rows =
          new DrafterLayer.Rows(
              pass.blocks(config.window(l)),
              contextPositions,
              queryPositions,
              first ? distinct : null,
              last ? slots : null);
      temporary.reset();
      x = model.layer(l).forward(x, first ? inputs : x, context, rows, activations, temporary);
    }
    slotStates = x;
    Matrix normed = activations.matrix(x.rows(), x.columns());
    ops.rmsNorm(x, model.weights().norm, config.rmsNormEps(), normed);
    return normed;
  }

  private void readContext(Pass pass, HiddenStates hidden) {
    taps = activations.matrix(pass.contextRows(), config.tapColumns());
    pass.forEachContextRange(
        (from, to, at) -> hidden.taps(from, to, activations, taps.rows(at, at + to - from)));
    fused = activations.matrix(taps.rows(), config.hiddenSize());
    context = activations.matrix(taps.rows(), config.hiddenSize());
    model.fuse(taps, fused, context);
  }

  /**
   * The vocabulary head with loss and gradient.
   *
   * @param normed of {@link #forward}
   * @param dNormed {@code [slots, H]} is overwritten with the gradient; null for none
   */
  HeadLoss.Result headLoss(
      Pass pass,
      HiddenStates hidden,
      HeadLoss.Settings settings,
      int chunkRows,
      Matrix normed,
      Matrix dNormed) {
    temporary.reset();
    int[] teacherRows = null;
    Matrix teacher = null;
    if (settings.useSoftLabels()) {
      int from = pass.firstRow();
      teacherRows = pass.teacherRows();
      for (int slot = 0; slot < teacherRows.length; slot++) {
        teacherRows[slot] -= from;
      }
      teacher = temporary.matrix(pass.endRow() - from, config.hiddenSize());
      hidden.finalStates(from, pass.endRow(), temporary, teacher);
    }
    HeadLoss loss =
        new HeadLoss(
            config.slotsPerBlock(),
            pass.labels(),
            pass.supervised(),
            teacherRows,
            chunkRows,
            settings);
    return ops.headLoss(normed, model.head(), teacher, loss, temporary, dNormed);
  }

  /** A matrix for the gradient of the normed slot states, valid until the next pass. */
  Matrix gradientLike(Matrix normed) {
    return activations.matrix(normed.rows(), normed.columns());
  }

  /** From the gradient of the normed slot states, whose content is overwritten, to all weights. */
  void backward(Matrix dNormed, GradientSink sink) {
    temporary.reset();
    normBackward(layout.norm(), slotStates, model.weights().norm, dNormed, sink);
    Matrix dOut = dNormed;
    Matrix dContext = activations.matrix(context.rows(), context.columns());
    Matrix dX = config.layers() == 1 ? null : activations.matrix(queryRows, config.hiddenSize());
    for (int l = config.layers() - 1; l >= 0; l--) {
      temporary.reset();
      boolean accumulate = l < config.layers() - 1;
      model.layer(l).backward(dOut, dContext, accumulate, l == 0 ? null : dX, temporary, sink);
      dOut = dX;
    }
    temporary.reset();
    normBackward(layout.hiddenNorm(), fused, model.weights().hiddenNorm, dContext, sink);
    Parameter fc = layout.fc();
    Matrix dFc = temporary.zeros(fc.rows(), fc.columns());
    ops.linearBackwardWeight(dContext, taps, dFc);
    sink.accept(fc, dFc);
  }

  private void normBackward(
      Parameter parameter, Matrix x, Matrix weight, Matrix gradient, GradientSink sink) {
    Matrix dWeight = temporary.zeros(1, parameter.columns());
    ops.rmsNormBackward(x, weight, config.rmsNormEps(), gradient, gradient, dWeight);
    sink.accept(parameter, dWeight);
  }

  /** The fused context of the last pass {@code [context rows, H]}. */
  Matrix context() {
    return context;
  }

  /** Largest device memory so far. */
  long peakBytes() {
    return activations.peakBytes() + temporary.peakBytes();
  }

  @Override
  public void close() {
    activations.close();
    temporary.close();
  }
}
