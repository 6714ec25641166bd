package org.draftmill.operators.drafter.collective;

import java.nio.ByteBuffer;

/**
 * The array that one operation of the collective moves, and what happens to an element that
 * arrives. One instance serves all operations of its kind, one after the other; it keeps no array
 * between them.
 */
abstract class Transfer {
  private final byte code;
  private final String name;
  private final int width;

  private Transfer(int code, String name, int width) {
    this.code = (byte) code;
    this.name = name;
    this.width = width;
  }

  /** Names the operation on the wire. */
  byte code() {
    return code;
  }

  /** Bytes of an element. */
  int width() {
    return width;
  }

  /** Elements of the array. */
  abstract int length();

  /** Writes elements {@code from … from + count − 1} at the buffer's position. */
  abstract void write(int from, int count, ByteBuffer to);

  /** Takes {@code count} elements from the buffer's position into {@code from …}. */
  abstract void read(int from, int count, ByteBuffer source);

  /** Takes the elements of the same place straight from a peer's array. */
  abstract void take(int from, int count, Transfer peer);

  /** Lets go of the array. */
  abstract void release();

  @Override
  public String toString() {
    return name;
  }

  /** What arrives is added. */
  static final class Sums extends Transfer {
    private final long[] scratch;
    private long[] values;

    /**
     * @param most elements that arrive at once
     */
    Sums(int most) {
      super(1, "reduce-scatter", Long.BYTES);
      scratch = new long[most];
    }

    Sums of(long[] array) {
      values = array;
      return this;
    }

    @Override
    int length() {
      return values.length;
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asLongBuffer().put(values, from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asLongBuffer().get(scratch, 0, count);
      add(scratch, 0, values, from, count);
    }

    @Override
    void take(int from, int count, Transfer peer) {
      add(((Sums) peer).values, from, values, from, count);
    }

    @Override
    void release() {
      values = null;
    }

    private static void add(long[] source, int at, long[] sums, int from, int count) {
      for (int i = 0; i < count; i++) {
        sums[from + i] += source[at + i];
      }
    }
  }

  /** What arrives is put in place. */
  static final class Longs extends Transfer {
    private long[] values;

    Longs() {
      super(2, "all-reduce", Long.BYTES);
    }

    Longs of(long[] array) {
      values = array;
      return this;
    }

    @Override
    int length() {
      return values.length;
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asLongBuffer().put(values, from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asLongBuffer().get(values, from, count);
    }

    @Override
    void take(int from, int count, Transfer peer) {
      System.arraycopy(((Longs) peer).values, from, values, from, count);
    }

    @Override
    void release() {
      values = null;
    }
  }

  /** What arrives is put in place. */
  static final class Floats extends Transfer {
    private float[] values;

    Floats() {
      super(3, "all-gather of floats", Float.BYTES);
    }

    Floats of(float[] array) {
      values = array;
      return this;
    }

    @Override
    int length() {
      return values.length;
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asFloatBuffer().put(values, from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asFloatBuffer().get(values, from, count);
    }

    @Override
    void take(int from, int count, Transfer peer) {
      System.arraycopy(((Floats) peer).values, from, values, from, count);
    }

    @Override
    void release() {
      values = null;
    }
  }

  /** What arrives is put in place. */
  static final class Doubles extends Transfer {
    private double[] values;

    Doubles() {
      super(4, "all-gather of doubles", Double.BYTES);
    }

    Doubles of(double[] array) {
      values = array;
      return this;
    }

    @Override
    int length() {
      return values.length;
    }

    @Override
    void write(int from, int count, ByteBuffer to) {
      to.asDoubleBuffer().put(values, from, count);
    }

    @Override
    void read(int from, int count, ByteBuffer source) {
      source.asDoubleBuffer().get(values, from, count);
    }

    @Override
    void take(int from, int count, Transfer peer) {
      System.arraycopy(((Doubles) peer).values, from, values, from, count);
    }

    @Override
    void release() {
      values = null;
    }
  }
}
