package org.draftmill.compute.target;

import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;

/** Attention within packed documents; keys and values are forgotten after the layer. */
record PackedAttention(Ops ops, int[] documentStarts, Activations activations)
    implements DecoderLayer.Attention {
  @Override
  public Matrix keys() {
    return activations.keys();
  }

  @Override
  public Matrix values() {
    return activations.values();
  }

  @Override
  public void attend(Matrix q, Heads heads, int window, Matrix out) {
    ops.causalAttention(q, keys(), values(), documentStarts, heads, window, out);
  }
}
