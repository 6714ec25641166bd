package org.draftmill.compute.cuda;

import java.util.Optional;
import org.draftmill.compute.ops.AdamW;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.PeerValues;

/**
 * Weights and moments in device memory: {@code optimizer.cu}. They come to the host only when asked
 * for.
 */
final class CudaMasters implements Masters, PeerValues {
  private static final String FAMILY = "optimizer";
  private static final int THREADS = 256;
  private static final int VALUES_OF_A_BLOCK = 1024;
  private static final int BLOCKS_OF_A_WARP = 8;

  /** Each goes through several parts of the weights, so that few meet at the sum. */
  private static final int MOST_HASHING = 2048;

  private final DeviceMemory memory;
  private final Launcher launcher;
  private final Transfers transfers;
  private final int size;
  private final int from;
  private final int to;
  private final Piece weights; // [size] floats
  private final PeerMemory shared; // the same
  private final Piece first; // [to − from] floats
  private final Piece second; // [to − from] floats
  private final Piece results; // 64 bits for each block of the shard, one at least
  private float[] onHost; // [size], made when first asked for
  private boolean closed;

  CudaMasters(
      DeviceMemory memory,
      Launcher launcher,
      Transfers transfers,
      float[] values,
      int from,
      int to) {
    this.memory = memory;
    this.launcher = launcher;
    this.transfers = transfers;
    this.size = values.length;
    this.from = from;
    this.to = to;
    this.weights = piece((long) size * Float.BYTES);
    this.shared = new PeerMemory(launcher, weights);
    this.first = piece((long) (to - from) * Float.BYTES);
    this.second = piece((long) (to - from) * Float.BYTES);
    this.results = piece((long) Math.max(1, blocks()) * Long.BYTES);
    write(values, 0, size);
    launcher.zero(first, first.bytes());
    launcher.zero(second, second.bytes());
  }

  private Piece piece(long bytes) {
    return new Piece(memory.allocate(Math.max(1, bytes)), bytes);
  }

  /** Blocks of the shard. */
  private int blocks() {
    return (int) (((long) to - from + BLOCK - 1) / BLOCK);
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int from() {
    return from;
  }

  @Override
  public int to() {
    return to;
  }

  @Override
  public CudaMatrix view(int offset, int rows, int columns) {
    if (offset < 0 || (long) rows * columns > size - offset) {
      throw new IndexOutOfBoundsException(
          "a matrix of %d x %d does not lie in %d weights from %d on"
              .formatted(rows, columns, size, offset));
    }
    return new CudaMatrix(transfers, weights, (long) offset * Float.BYTES, rows, columns);
  }

  @Override
  public float[] toHost(int begin, int end) {
    if (onHost == null) {
      onHost = new float[size];
    }
    view(begin, 1, end - begin).read(onHost, begin);
    return onHost;
  }

  @Override
  public void write(float[] values, int begin, int end) {
    view(begin, 1, end - begin).write(values, begin);
  }

  @Override
  public Optional<PeerValues> forPeers() {
    launcher.stream().await();
    return Optional.of(this);
  }

  @Override
  public void take(PeerValues peer, int begin, int end) {
    try (PeerMemory.Reading theirs = ((CudaMasters) peer).shared.read(launcher)) {
      long at = (long) begin * Float.BYTES;
      theirs.copy(at, (long) (end - begin) * Float.BYTES, weights, at);
    }
  }

  @Override
  public void readMoments(float[] firstMoments, float[] secondMoments) {
    moments(first).read(firstMoments, 0);
    moments(second).read(secondMoments, 0);
  }

  @Override
  public void writeMoments(float[] firstMoments, float[] secondMoments) {
    moments(first).write(firstMoments, 0);
    moments(second).write(secondMoments, 0);
  }

  private CudaMatrix moments(Piece piece) {
    return new CudaMatrix(transfers, piece, 0, 1, to - from);
  }

  @Override
  public void squares(ExactSums sums, double unit, double[] squares) {
    int blocks = blocks();
    launcher.launch(
        FAMILY,
        "block_squares",
        Grid.of((blocks + BLOCKS_OF_A_WARP - 1) / BLOCKS_OF_A_WARP, Grid.WARP),
        piece(sums),
        (long) from,
        (long) to,
        unit,
        results);
    long[] bits = new long[blocks];
    transfers.read(results, bits);
    for (int b = 0; b < blocks; b++) {
      squares[from / BLOCK + b] = Double.longBitsToDouble(bits[b]);
    }
  }

  @Override
  public void update(ExactSums sums, double factor, AdamW adamW, int begin, int end) {
    if (begin < from || end > to) {
      throw new IndexOutOfBoundsException(
          "the elements %d to %d are not of the shard from %d to %d"
              .formatted(begin, end, from, to));
    }
    launcher.launch(
        FAMILY,
        "adamw",
        Grid.of((int) (((long) end - begin + VALUES_OF_A_BLOCK - 1) / VALUES_OF_A_BLOCK), THREADS),
        piece(sums),
        weights,
        first,
        second,
        (long) from,
        (long) begin,
        (long) end,
        factor,
        adamW.beta1(),
        adamW.gain1(),
        adamW.beta2(),
        adamW.gain2(),
        adamW.rate(),
        adamW.secondScale(),
        adamW.epsilon(),
        adamW.kept());
  }

  private Piece piece(ExactSums sums) {
    if (sums.size() != size) {
      throw new IllegalArgumentException(sums.size() + " sums cannot update " + size + " weights");
    }
    return CudaExactSums.of(sums).piece();
  }

  @Override
  public long fingerprint() {
    launcher.zero(results, Long.BYTES);
    long parts = ((long) size + VALUES_OF_A_BLOCK - 1) / VALUES_OF_A_BLOCK;
    launcher.launch(
        FAMILY,
        "fingerprint",
        Grid.of((int) Math.min(MOST_HASHING, parts), THREADS),
        weights,
        (long) size,
        results);
    long[] hash = new long[1];
    transfers.read(results, hash);
    return hash[0];
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      shared.close();
      for (Piece piece : new Piece[] {weights, first, second, results}) {
        memory.free(piece.address());
        piece.invalidate();
      }
    }
  }
}
