package org.draftmill.compute.ops;

/**
 * The shape of an attention layer. Query head {@code h} reads key/value head {@code h / (queryHeads
 * / keyValueHeads)}; scores are scaled by {@code 1/sqrt(headDim)}.
 */
public record Heads(int queryHeads, int keyValueHeads, int headDim) {
  public Heads {
    if (keyValueHeads <= 0 || queryHeads % keyValueHeads != 0) {
      throw new IllegalArgumentException(
          queryHeads + " query heads cannot share " + keyValueHeads + " key/value heads");
    }
  }

  public int queryColumns() {
    return queryHeads * headDim;
  }

  public int keyValueColumns() {
    return keyValueHeads * headDim;
  }
}
