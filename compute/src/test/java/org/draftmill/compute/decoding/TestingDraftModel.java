package org.draftmill.compute.decoding;

import java.util.Arrays;
import java.util.Random;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;

/**
 * Knows what the target will say and proposes it, right for as many slots as it is told; or guesses
 * at random. Keeps the hidden states that it was given.
 */
final class TestingDraftModel implements DraftModel {
  private final Backend backend;
  private final int blockSize;
  private final Taps taps;
  private final int vocabulary;

  /** Prompt and the target's greedy continuation of it. */
  int[] sequence = {};

  /** How many slots are right in round 0, 1, … (repeated); null: random logits in every slot. */
  int[] rightSlots;

  private final Random random = new Random(3);

  /** Context rows of the current sequence, {@code [contextLength, K·H]}. */
  float[] context = {};

  TestingDraftModel(Backend backend, int blockSize, Taps taps, int vocabulary) {
    this.backend = backend;
    this.blockSize = blockSize;
    this.taps = taps;
    this.vocabulary = vocabulary;
  }

  @Override
  public int blockSize() {
    return blockSize;
  }

  @Override
  public Taps taps() {
    return taps;
  }

  @Override
  public DraftSession open(int maxLength) {
    return new Session(backend.workspace(), maxLength);
  }

  private final class Session implements DraftSession {
    private final Workspace workspace;
    private final int maxLength;
    private int length;
    private int round;

    Session(Workspace workspace, int maxLength) {
      this.workspace = workspace;
      this.maxLength = maxLength;
    }

    @Override
    public int contextLength() {
      return length;
    }

    @Override
    public void extend(Matrix taps) {
      float[] rows = taps.toArray();
      int before = context.length;
      context = Arrays.copyOf(context, before + rows.length);
      System.arraycopy(rows, 0, context, before, rows.length);
      length += taps.rows();
      if (length > maxLength) {
        throw new IllegalStateException("more context than announced: " + length);
      }
    }

    @Override
    public Matrix draft(int anchorToken) {
      if (length < sequence.length && anchorToken != sequence[length]) {
        throw new IllegalStateException("anchor " + anchorToken + " at " + length);
      }
      int slots = blockSize - 1;
      float[] logits = new float[slots * vocabulary];
      int right = rightSlots == null ? 0 : rightSlots[round++ % rightSlots.length];
      for (int slot = 0; slot < slots; slot++) {
        int at = length + 1 + slot;
        int token = at < sequence.length ? sequence[at] : 0;
        if (rightSlots == null) {
          logits[slot * vocabulary + random.nextInt(vocabulary)] = 1;
        } else {
          logits[slot * vocabulary + (slot < right ? token : (token + 1) % vocabulary)] = 1;
        }
      }
      workspace.reset();
      return workspace.matrix(slots, vocabulary, logits);
    }

    @Override
    public void clear() {
      length = 0;
      round = 0;
      context = new float[0];
    }

    @Override
    public void close() {
      workspace.close();
    }
  }
}
