package org.draftmill.compute.target;

import java.nio.file.Path;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Weight;
import org.draftmill.compute.ops.Workspace;

/**
 * What a drafter borrows from its target: the embedding and the vocabulary head, both frozen. Only
 * these tensors are read.
 */
public final class TargetHead implements AutoCloseable {
  private final TargetConfig config;
  private final Workspace owned; // null when the memory belongs to a model
  private final Matrix embedding; // [vocabulary, hidden]
  private final Weight lmHead; // [vocabulary, hidden], or null when a model does not need it

  private TargetHead(TargetConfig config, Workspace owned, Matrix embedding, Weight lmHead) {
    this.config = config;
    this.owned = owned;
    this.embedding = embedding;
    this.lmHead = lmHead;
  }

  /** Reads both tensors of the model in {@code folder}. */
  public static TargetHead load(Path folder, Backend backend) {
    TargetConfig config = TargetConfig.read(folder);
    Workspace weights = backend.workspace();
    try (WeightReader reader = new WeightReader(folder, backend, weights)) {
      Matrix embedding = reader.embedding(config.vocabulary(), config.hidden());
      return new TargetHead(config, weights, embedding, lmHead(config, reader, weights, embedding));
    } catch (RuntimeException e) {
      weights.close();
      throw e;
    }
  }

  /** As part of a model that owns {@code weights}; the vocabulary head only where it is needed. */
  static TargetHead read(
      TargetConfig config, WeightReader reader, Workspace weights, boolean withLmHead) {
    Matrix embedding = reader.embedding(config.vocabulary(), config.hidden());
    Weight lmHead = withLmHead ? lmHead(config, reader, weights, embedding) : null;
    return new TargetHead(config, null, embedding, lmHead);
  }

  private static Weight lmHead(
      TargetConfig config, WeightReader reader, Workspace weights, Matrix embedding) {
    return config.tiedHead()
        ? weights.arrange(embedding)
        : reader.head(config.vocabulary(), config.hidden());
  }

  public TargetConfig config() {
    return config;
  }

  /** The embedding as a table, {@code [vocabulary, hidden]}. */
  public Matrix embedding() {
    return embedding;
  }

  /** The vocabulary head for products, {@code [vocabulary, hidden]}; the embedding when tied. */
  public Weight lmHead() {
    if (lmHead == null) {
      throw new IllegalStateException("this model was loaded without its vocabulary head");
    }
    return lmHead;
  }

  /** Gives the memory back, unless it belongs to a {@link TargetModel}. */
  @Override
  public void close() {
    if (owned != null) {
      owned.close();
    }
  }
}
