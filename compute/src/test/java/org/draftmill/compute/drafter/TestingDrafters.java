package org.draftmill.compute.drafter;

import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Rope;
import org.draftmill.compute.target.Taps;

/** Small drafters of many shapes. */
final class TestingDrafters {
  private TestingDrafters() {}

  /** A drafter of the layers, taps, and block size given; everything else is small and odd. */
  static DrafterConfig config(int layers, Taps taps, int blockSize) {
    return config(layers, taps, blockSize, new Heads(4, 2, 6), 20, 28, 23);
  }

  static DrafterConfig config(
      int layers,
      Taps taps,
      int blockSize,
      Heads heads,
      int hidden,
      int intermediate,
      int vocabulary) {
    return new DrafterConfig(
        hidden,
        intermediate,
        heads,
        vocabulary,
        8,
        taps,
        blockSize,
        vocabulary - 1,
        Collections.nCopies(layers, false),
        0,
        1e-6f,
        new Rope(10_000, new Rope.Unscaled()),
        512,
        OptionalInt.of(1),
        List.of(1, 2));
  }

  /** The frozen part of a target: embedding and vocabulary head {@code [vocabulary, hidden]}. */
  static DrafterModel model(
      Backend backend, Workspace workspace, DrafterConfig config, float[] masters) {
    Random random = new Random(11);
    int rows = config.vocabularySize();
    int columns = config.hiddenSize();
    float[] embedding = new float[rows * columns];
    float[] head = new float[rows * columns];
    for (int i = 0; i < embedding.length; i++) {
      embedding[i] = (float) random.nextGaussian();
      head[i] = (float) (random.nextGaussian() * 2 / Math.sqrt(columns));
    }
    return new DrafterModel(
        backend,
        config,
        workspace.matrix(rows, columns, embedding),
        workspace.arrange(workspace.matrix(rows, columns, head)),
        masters);
  }

  static DrafterSettings settings(DrafterConfig config, int anchors, int passRows) {
    return new DrafterSettings(
        42,
        10,
        anchors,
        DrafterSettings.hardLabels(config.blockSize()),
        new OptimizerSettings(
            3e-3, 0.1, OptimizerSettings.Schedule.COSINE, 0, 0.01, 1, 0.9, 0.95, 1e-8),
        passRows,
        1 << 20);
  }
}
