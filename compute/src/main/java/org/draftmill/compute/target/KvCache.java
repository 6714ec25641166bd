package org.draftmill.compute.target;

import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;

/** Keys and values of one sequence, layer by layer. */
final class KvCache implements AutoCloseable {
  private final Ops ops;
  private final Workspace workspace;
  private final Layer[] layers;
  private final int maxLength;
  private int length;
  private int pending;

  KvCache(Backend backend, TargetConfig config, int maxLength) {
    this.ops = backend.ops();
    this.workspace = backend.workspace();
    this.maxLength = maxLength;
    this.layers = new Layer[config.layers()];
    int columns = config.heads().keyValueColumns();
    for (int layer = 0; layer < layers.length; layer++) {
      layers[layer] =
          new Layer(workspace.matrix(maxLength, columns), workspace.matrix(maxLength, columns));
    }
  }

  int length() {
    return length;
  }

  int maxLength() {
    return maxLength;
  }

  /** Announces {@code rows} further positions, which every layer fills before it attends. */
  void begin(int rows) {
    if (rows > maxLength - length) {
      throw new IllegalStateException(
          "%d tokens do not fit after the %d of a sequence of at most %d"
              .formatted(rows, length, maxLength));
    }
    pending = rows;
  }

  /** Makes the announced positions part of the sequence. */
  void commit() {
    length += pending;
    pending = 0;
  }

  /** Forgets the positions from {@code newLength} on. */
  void truncate(int newLength) {
    if (newLength < 0 || newLength > length) {
      throw new IllegalArgumentException(
          "a sequence of %d tokens cannot be cut to %d".formatted(length, newLength));
    }
    length = newLength;
  }

  Layer layer(int layer) {
    return layers[layer];
  }

  @Override
  public void close() {
    workspace.close();
  }

  /** One layer's part: new keys and values are computed in their place. */
  final class Layer implements DecoderLayer.Attention {
    private final Matrix allKeys; // [maxLength, keyValueColumns]
    private final Matrix allValues; // [maxLength, keyValueColumns]

    private Layer(Matrix allKeys, Matrix allValues) {
      this.allKeys = allKeys;
      this.allValues = allValues;
    }

    @Override
    public Matrix keys() {
      return allKeys.rows(length, length + pending);
    }

    @Override
    public Matrix values() {
      return allValues.rows(length, length + pending);
    }

    @Override
    public void attend(Matrix q, Heads heads, int window, Matrix out) {
      ops.cachedAttention(q, allKeys, allValues, length + pending, heads, window, out);
    }
  }
}
