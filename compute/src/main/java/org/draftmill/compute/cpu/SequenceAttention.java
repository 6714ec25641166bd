package org.draftmill.compute.cpu;

import org.draftmill.compute.host.HostMatrix;
import org.draftmill.compute.ops.Heads;

/**
 * Causal attention of sequences: packed documents, or the last rows of one sequence over its cache.
 * A tile takes consecutive (row, query head of the group) pairs.
 */
final class SequenceAttention {
  /**
   * Consecutive queries of one sequence.
   *
   * @param firstQuery row of q
   * @param queries how many
   * @param firstKey row of k and v where the sequence begins
   * @param firstPosition position of the first query
   */
  record Sequence(int firstQuery, int queries, int firstKey, int firstPosition) {}

  private final HostMatrix q;
  private final HostMatrix k;
  private final HostMatrix v;
  private final Heads heads;
  private final int window;
  private final HostMatrix out;

  SequenceAttention(
      HostMatrix q, HostMatrix k, HostMatrix v, Heads heads, int window, HostMatrix out) {
    this.q = q;
    this.k = k;
    this.v = v;
    this.heads = heads;
    this.window = window;
    this.out = out;
  }

  private int group() {
    return heads.queryHeads() / heads.keyValueHeads();
  }

  int tiles(Sequence sequence, int panel) {
    return (sequence.queries() * group() + panel - 1) / panel;
  }

  /** Multiplications for a sequence, all heads. */
  long cost(Sequence sequence) {
    long keys = sequence.firstPosition() + sequence.queries();
    return 2L
        * sequence.queries()
        * (window > 0 ? Math.min(window, keys) : keys)
        * heads.queryColumns();
  }

  /** Tile {@code index} of a sequence and key/value head. */
  void tile(AttentionTile tile, int panel, Sequence sequence, int keyHead, int index) {
    int group = group();
    int headDim = heads.headDim();
    int firstLane = index * panel;
    int lanes = Math.min(panel, sequence.queries() * group - firstLane);
    float scale = (float) (1 / Math.sqrt(headDim));
    tile.begin(lanes);
    for (int lane = 0; lane < lanes; lane++) {
      int query = (firstLane + lane) / group;
      int head = keyHead * group + (firstLane + lane) % group;
      int row = sequence.firstQuery() + query;
      tile.query(lane, q.data(), q.at(row) + head * headDim, scale);
      int position = sequence.firstPosition() + query;
      tile.sees(lane, firstSeen(position), position + 1);
    }
    int begin = firstSeen(sequence.firstPosition() + firstLane / group);
    int end = sequence.firstPosition() + (firstLane + lanes - 1) / group + 1;
    int column = keyHead * headDim;
    for (int key = begin - begin % AttentionTile.KEYS; key < end; key += AttentionTile.KEYS) {
      int count = Math.min(AttentionTile.KEYS, end - key);
      tile.attend(k, v, sequence.firstKey() + key, column, key, count);
    }
    for (int lane = 0; lane < lanes; lane++) {
      int head = keyHead * group + (firstLane + lane) % group;
      int row = sequence.firstQuery() + (firstLane + lane) / group;
      tile.result(lane, out.data(), out.at(row) + head * headDim);
    }
  }

  private int firstSeen(int position) {
    return window > 0 ? Math.max(0, position + 1 - window) : 0;
  }
}
