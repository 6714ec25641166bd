package org.draftmill.compute.drafter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.draftmill.compute.decoding.DraftSession;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Blocks;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;

/** Drafting for one sequence: every layer's keys and values of the committed context are kept. */
final class DrafterSession implements DraftSession {
  private final DrafterModel model;
  private final DrafterConfig config;
  private final Ops ops;
  private final int maxLength;
  private final Workspace memory;
  private final Workspace temporary;
  private final List<Matrix> keys = new ArrayList<>(); // one a layer: [maxLength, keyValueColumns]
  private final List<Matrix> values = new ArrayList<>();
  private int length;

  DrafterSession(DrafterModel model, Backend backend, int maxLength) {
    this.model = model;
    this.config = model.config();
    this.ops = backend.ops();
    this.maxLength = Math.max(1, maxLength);
    this.memory = backend.workspace();
    this.temporary = backend.workspace();
    int columns = config.heads().keyValueColumns();
    for (int l = 0; l < config.layers(); l++) {
      keys.add(memory.matrix(this.maxLength, columns));
      values.add(memory.matrix(this.maxLength, columns));
    }
  }

  @Override
  public int contextLength() {
    return length;
  }

  @Override
  public void extend(Matrix taps) {
    int count = taps.rows();
    if (count == 0) {
      return;
    }
    if (count > maxLength - length) {
      throw new IllegalArgumentException(
          (length + count) + " positions do not fit a draft session of " + maxLength);
    }
    temporary.reset();
    Matrix context = temporary.matrix(count, config.hiddenSize());
    model.fuse(taps, context, context);
    Ints positions = temporary.ints(ascending(length, count));
    for (int l = 0; l < config.layers(); l++) {
      model
          .layer(l)
          .project(
              context,
              positions,
              keys.get(l).rows(length, length + count),
              values.get(l).rows(length, length + count),
              temporary);
    }
    length += count;
  }

  @Override
  public Matrix draft(int anchorToken) {
    temporary.reset();
    int blockSize = config.blockSize();
    int[] tokens = new int[blockSize];
    Arrays.fill(tokens, config.maskToken());
    tokens[0] = anchorToken;
    Ints positions = temporary.ints(ascending(length, blockSize));
    Ints slots = temporary.ints(ascending(1, blockSize - 1));
    Matrix x = temporary.matrix(blockSize, config.hiddenSize());
    ops.embed(model.embedding(), temporary.ints(tokens), x);
    for (int l = 0; l < config.layers(); l++) {
      Blocks blocks = new Blocks(blockSize, new int[] {0}, new int[] {length}, config.window(l));
      boolean last = l == config.layers() - 1;
      DrafterLayer.Rows rows =
          new DrafterLayer.Rows(blocks, null, positions, null, last ? slots : null);
      x = model.layer(l).draft(x, keys.get(l), values.get(l), rows, temporary);
    }
    ops.rmsNorm(x, model.weights().norm, config.rmsNormEps(), x);
    Matrix logits = temporary.matrix(blockSize - 1, config.vocabularySize());
    ops.linear(x, model.head(), logits);
    return logits;
  }

  private static int[] ascending(int first, int count) {
    int[] values = new int[count];
    Arrays.setAll(values, i -> first + i);
    return values;
  }

  @Override
  public void clear() {
    length = 0;
  }

  @Override
  public void close() {
    memory.close();
    temporary.close();
  }
}
