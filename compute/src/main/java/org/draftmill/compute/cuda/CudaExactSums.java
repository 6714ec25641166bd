package org.draftmill.compute.cuda;

import java.util.Optional;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.PeerValues;

/** Exact sums in device memory: {@code exact.cu}. They come to the host only when asked for. */
final class CudaExactSums implements ExactSums, PeerValues {
  private static final String FAMILY = "exact";

  private static final int VALUES_OF_A_BLOCK = 1024;
  private static final int THREADS = 256;

  private final DeviceMemory memory;
  private final Launcher launcher;
  private final Transfers transfers;
  private final Scratch scratch;
  private final int size;
  private final Piece sums; // [size] 64-bit integers
  private final PeerMemory shared; // the same
  private final CudaInts spoilt; // [1]
  private long[] onHost; // [size], made when first asked for
  private boolean closed;

  CudaExactSums(
      DeviceMemory memory, Launcher launcher, Transfers transfers, Scratch scratch, int size) {
    this.memory = memory;
    this.launcher = launcher;
    this.transfers = transfers;
    this.scratch = scratch;
    this.size = size;
    this.sums = piece(Math.max(1L, size) * Long.BYTES);
    this.shared = new PeerMemory(launcher, sums);
    this.spoilt = new CudaInts(transfers, piece(Integer.BYTES), 1);
    clear();
  }

  /** The sums as this backend sees them. */
  static CudaExactSums of(ExactSums sums) {
    if (sums instanceof CudaExactSums cuda) {
      return cuda;
    }
    throw new IllegalArgumentException(
        "the cuda backend cannot use sums of " + sums.getClass().getName());
  }

  private Piece piece(long bytes) {
    return new Piece(memory.allocate(bytes), bytes);
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void add(Matrix values, int offset) {
    CudaMatrix from = CudaMatrix.of(values);
    if (offset < 0 || from.size() > size - offset) {
      throw new IndexOutOfBoundsException(
          from.size() + " values from " + offset + " on do not fit into " + size + " sums");
    }
    launcher.launch(
        FAMILY, "add_exactly", grid(from.size()), from, sums, (long) offset, from.size(), spoilt);
  }

  private static Grid grid(long values) {
    return Grid.of(Math.toIntExact((values + VALUES_OF_A_BLOCK - 1) / VALUES_OF_A_BLOCK), THREADS);
  }

  @Override
  public boolean sound() {
    int[] found = new int[1];
    spoilt.read(found);
    return found[0] == 0;
  }

  @Override
  public long[] toHost() {
    if (onHost == null) {
      onHost = new long[size];
    }
    transfers.read(sums, onHost);
    return onHost;
  }

  @Override
  public void write(long[] values, int from, int to) {
    transfers.write(values, from, to, sums);
  }

  @Override
  public Optional<PeerValues> forPeers() {
    launcher.stream().await();
    return Optional.of(this);
  }

  @Override
  public void take(PeerValues peer, int from, int to) {
    try (PeerMemory.Reading theirs = ((CudaExactSums) peer).shared.read(launcher)) {
      int atOnce = transfers.chunkBytes() / Long.BYTES;
      for (long at = from; at < to; at += atOnce) {
        long count = Math.min(atOnce, to - at);
        Piece arrived = scratch.bytes("sums of a peer", count * Long.BYTES);
        theirs.copy(at * Long.BYTES, count * Long.BYTES, arrived, 0);
        launcher.launch(FAMILY, "add_sums", grid(count), arrived, sums, at, count);
      }
    }
  }

  /** The sums as kernels see them: {@code [size]} 64-bit integers. */
  Piece piece() {
    return sums;
  }

  @Override
  public void clear() {
    launcher.zero(sums, sums.bytes());
    launcher.zero(spoilt, Integer.BYTES);
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      shared.close();
      memory.free(sums.address());
      memory.free(spoilt.address());
      sums.invalidate();
      spoilt.piece().invalidate();
    }
  }
}
