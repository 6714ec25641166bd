package org.draftmill.operators.drafter.collective;

import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import org.draftmill.compute.ops.PeerValues;

/**
 * The array, or values on a device, that one operation of the collective moves, and what happens to
 * an element that arrives. One instance serves all operations of its kind, one after the other; it
 * keeps no array between them.
 *
 * @param <A> type of the array
 */
abstract class Transfer<A> {
  private final byte code;
  private final String name;
  private final int width;
  private A values;

  private Transfer(int code, String name, int width) {
    this.code = (byte) code;
    this.name = name;
    this.width = width;
  }

  /** Begins an operation on this array. */
  final Transfer<A> of(A array) {
    values = array;
    return this;
  }

  final A values() {
    return values;
  }

  /** Names the operation on the wire. */
  final byte code() {
    return code;
  }

  /** Bytes of an element. */
  final int width() {
    return width;
  }

  /** Elements of the array. */
  int length() {
    return Array.getLength(values);
  }

  /** How many elements travel at once. */
  int atOnce(CollectiveOptions options) {
    return options.piece();
  }

  /** Writes elements {@code from … from + count − 1} at the buffer's position. */
  abstract void write(int from, int count, ByteBuffer to);

  /** Takes {@code count} elements from the buffer's position into {@code from …}. */
  abstract void read(int from, int count, ByteBuffer source);

  /**
   * Takes the elements of the same place straight from a peer's array. What arrives is put in
   * place, unless the operation says otherwise.
   *
   * @param peer of the type of this operation's array
   */
  void take(int from, int count, Object peer) {
    System.arraycopy(peer, from, values, from, count);
  }

  /** Lets go of the array. */
  final void release() {
    values = null;
  }

  @Override
  public String toString() {
    return name;
  }

  /** What arrives is added. */
  static final class Sums extends Transfer<long[]> {
    private final long[] scratch;

    /**
     * @param most elements that arrive at once
     */
    Sums(int most) {
      super(1, "reduce-scatter", Long.BYTES);
      scratch = new long[most];
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asLongBuffer().put(values(), from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asLongBuffer().get(scratch, 0, count);
      add(scratch, 0, values(), from, count);
    }

    @Override
    void take(int from, int count, Object peer) {
      add((long[]) peer, from, values(), from, count);
    }

    private static void add(long[] source, int at, long[] sums, int from, int count) {
      for (int i = 0; i < count; i++) {
        sums[from + i] += source[at + i];
      }
    }
  }

  static final class Longs extends Transfer<long[]> {
    Longs() {
      super(2, "all-reduce", Long.BYTES);
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asLongBuffer().put(values(), from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asLongBuffer().get(values(), from, count);
    }
  }

  static final class Floats extends Transfer<float[]> {
    Floats() {
      super(3, "all-gather of floats", Float.BYTES);
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asFloatBuffer().put(values(), from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asFloatBuffer().get(values(), from, count);
    }
  }

  static final class Doubles extends Transfer<double[]> {
    Doubles() {
      super(4, "all-gather of doubles", Double.BYTES);
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asDoubleBuffer().put(values(), from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asDoubleBuffer().get(values(), from, count);
    }
  }

  /**
   * From device to device, within a process. What arrives is added or put in place, as the values
   * themselves know.
   */
  static final class Peers extends Transfer<PeerValues> {
    Peers(int code, String name) {
      super(code, name, 0);
    }

    @Override
    int length() {
      return values().size();
    }

    @Override
    int atOnce(CollectiveOptions options) {
      return options.devicePiece();
    }

    @Override
    void take(int from, int count, Object peer) {
      values().take((PeerValues) peer, from, from + count);
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      throw new UnsupportedOperationException("A device's memory does not leave the process.");
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      throw new UnsupportedOperationException("A device's memory does not leave the process.");
    }
  }
}
