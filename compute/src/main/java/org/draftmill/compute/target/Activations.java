package org.draftmill.compute.target;

import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/**
 * The matrices that a pass over {@code n} rows works in, shared by all layers. Memory grows to the
 * largest {@code n} seen and is kept.
 */
final class Activations implements AutoCloseable {
  /** Rows of the MLP's inner activations, which are the widest, that exist at once. */
  static final int MLP_ROWS = 4096;

  private final Backend backend;
  private final TargetConfig config;
  private Workspace workspace;
  private int capacity;
  private Matrix allX;
  private Matrix allNormed;
  private Matrix allQueries;
  private Matrix allAttended;
  private Matrix allKeys;
  private Matrix allValues;

  private Matrix x;
  private Matrix normed;
  private Matrix queries;
  private Matrix attended;
  private Matrix keys;
  private Matrix values;
  private Matrix gate;
  private Matrix up;

  Activations(Backend backend, TargetConfig config) {
    this.backend = backend;
    this.config = config;
    this.workspace = backend.workspace();
  }

  /** Makes every matrix {@code rows} long; their content is undefined then. */
  void resize(int rows) {
    if (rows > capacity) {
      grow(rows);
    }
    x = allX.rows(0, rows);
    normed = allNormed.rows(0, rows);
    queries = allQueries.rows(0, rows);
    attended = allAttended.rows(0, rows);
    keys = allKeys.rows(0, rows);
    values = allValues.rows(0, rows);
  }

  private void grow(int rows) {
    workspace.close();
    workspace = backend.workspace();
    Heads heads = config.heads();
    allX = workspace.matrix(rows, config.hidden());
    allNormed = workspace.matrix(rows, config.hidden());
    allQueries = workspace.matrix(rows, heads.queryColumns());
    allAttended = workspace.matrix(rows, heads.queryColumns());
    allKeys = workspace.matrix(rows, heads.keyValueColumns());
    allValues = workspace.matrix(rows, heads.keyValueColumns());
    gate = workspace.matrix(Math.min(rows, MLP_ROWS), config.intermediate());
    up = workspace.matrix(Math.min(rows, MLP_ROWS), config.intermediate());
    capacity = rows;
  }

  /** Bytes that a host holds for {@code rows} rows. */
  static long bytes(TargetConfig config, long rows) {
    Heads heads = config.heads();
    long columns = 2L * (config.hidden() + heads.queryColumns() + heads.keyValueColumns());
    return Float.BYTES * (rows * columns + 2L * Math.min(rows, MLP_ROWS) * config.intermediate());
  }

  /** The residual stream, {@code [n, H]}. */
  Matrix x() {
    return x;
  }

  /** {@code [n, H]}: a normed copy of x, then what is added to x. */
  Matrix normed() {
    return normed;
  }

  /** {@code [n, queryColumns]}. */
  Matrix queries() {
    return queries;
  }

  /** {@code [n, queryColumns]}. */
  Matrix attended() {
    return attended;
  }

  /** {@code [n, keyValueColumns]}; not used where keys go into a cache. */
  Matrix keys() {
    return keys;
  }

  /** {@code [n, keyValueColumns]}; not used where values go into a cache. */
  Matrix values() {
    return values;
  }

  /** {@code [≤ MLP_ROWS, intermediate]}. */
  Matrix gate() {
    return gate;
  }

  /** {@code [≤ MLP_ROWS, intermediate]}. */
  Matrix up() {
    return up;
  }

  @Override
  public void close() {
    workspace.close();
  }
}
