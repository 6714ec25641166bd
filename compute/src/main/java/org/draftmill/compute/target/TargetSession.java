package org.draftmill.compute.target;

import java.util.stream.IntStream;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/**
 * The target on one sequence that grows: keys and values of what was seen are kept, so that each
 * token is computed once. Used by the model's thread; steady state allocates no device memory.
 */
public final class TargetSession implements AutoCloseable {

  /**
   * What the target says about the tokens just appended; valid until the next call.
   *
   * @param logits {@code [scored, vocabulary]} of the last {@code scored} tokens: what should
   *     follow each
   * @param taps {@code [tokens, K·H]}, or null when the session keeps none
   * @param finalStates {@code [tokens, H]} after the final norm
   */
  public record Scores(Matrix logits, Matrix taps, Matrix finalStates) {}

  private final TargetModel model;
  private final Taps taps;
  private final KvCache cache;
  private final ResultBuffer results;
  private Workspace logitsMemory;
  private Matrix allLogits; // [most scored so far, vocabulary]

  TargetSession(TargetModel model, Taps taps, int maxLength) {
    this.model = model;
    this.taps = taps;
    this.cache = new KvCache(model.backend(), model.config(), maxLength);
    this.results = new ResultBuffer(model.backend());
    this.logitsMemory = model.backend().workspace();
  }

  /** Tokens seen and kept. */
  public int length() {
    return cache.length();
  }

  public int maxLength() {
    return cache.maxLength();
  }

  /** Appends a prompt and scores what follows its last token. */
  public Scores prefill(int[] prompt) {
    return append(prompt, 1);
  }

  /** Appends tokens and scores what follows each. */
  public Scores decode(int... tokens) {
    return append(tokens, tokens.length);
  }

  private Scores append(int[] tokens, int scored) {
    model.requireLoaded(model.config().layers());
    model.requireIds(tokens);
    int hidden = model.config().hidden();
    int rows = tokens.length;
    cache.begin(rows);
    results.resize(rows, taps == null ? 0 : model.tapColumns(taps), hidden);
    model.activations().resize(rows);
    int[] positions = IntStream.range(cache.length(), cache.length() + rows).toArray();
    Matrix tapped = taps == null ? null : results.taps(rows);
    model.run(tokens, positions, model.config().layers(), cache::layer, taps, tapped);
    cache.commit();
    Matrix finalStates = results.finalStates(rows);
    model.normFinal(finalStates);
    Matrix logits = logits(scored);
    model.ops().linear(finalStates.rows(rows - scored, rows), model.head().lmHead(), logits);
    return new Scores(logits, tapped, finalStates);
  }

  private Matrix logits(int scored) {
    if (allLogits == null || allLogits.rows() < scored) {
      logitsMemory.close();
      logitsMemory = model.backend().workspace();
      allLogits = logitsMemory.matrix(scored, model.config().vocabulary());
    }
    return allLogits.rows(0, scored);
  }

  /** Forgets the tokens from position {@code length} on, rejected drafts say. */
  public void truncate(int length) {
    cache.truncate(length);
  }

  /** Forgets everything and keeps the memory, for the next sequence. */
  public void clear() {
    cache.truncate(0);
  }

  @Override
  public void close() {
    cache.close();
    results.close();
    logitsMemory.close();
  }
}
