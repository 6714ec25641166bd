package org.draftmill.compute.cuda;

import java.util.ArrayList;
import java.util.List;

/**
 * Device memory handed out piece after piece from a few large allocations until the next {@link
 * #reset()}. A round that needed several has them replaced by one that holds it all, so a loop
 * whose sizes vary settles on about the memory of its largest round and allocates nothing from then
 * on.
 */
final class CudaArena implements AutoCloseable {
  /** Pieces begin at multiples of this many bytes. */
  static final int ALIGNMENT = 256;

  private static final long SMALLEST = 1L << 16;
  private static final long LARGEST_GROWTH = 1L << 28;

  private record Chunk(long address, long bytes) {}

  private final DeviceMemory memory;
  private final boolean apart;
  private final List<Chunk> chunks = new ArrayList<>();
  private final List<Piece> pieces = new ArrayList<>();
  private int current;
  private long used; // of the current chunk
  private long taken; // since the last reset
  private long bytes;
  private long peakBytes;

  /**
   * @param apart give every piece an allocation of its own, so that tools that watch memory see its
   *     bounds and its end
   */
  CudaArena(DeviceMemory memory, boolean apart) {
    this.memory = memory;
    this.apart = apart;
  }

  /** Memory of any content. */
  Piece take(long length) {
    Piece piece = new Piece(apart ? add(Math.max(length, 1)) : next(length), length);
    pieces.add(piece);
    return piece;
  }

  private long next(long length) {
    while (current < chunks.size() && chunks.get(current).bytes - used < length) {
      current++;
      used = 0;
    }
    if (current == chunks.size()) {
      // Grows by an eighth, so that many small pieces make few chunks and little is left over.
      add(
          Math.max(
              aligned(length), Math.max(SMALLEST, Math.min(aligned(bytes / 8), LARGEST_GROWTH))));
    }
    Chunk chunk = chunks.get(current);
    long address = chunk.address + used;
    used += aligned(length);
    taken += aligned(length);
    return address;
  }

  private static long aligned(long length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  private long add(long length) {
    long address = memory.allocate(length);
    chunks.add(new Chunk(address, length));
    bytes += length;
    peakBytes = Math.max(peakBytes, bytes);
    return address;
  }

  /** Makes all memory reusable. */
  void reset() {
    pieces.forEach(Piece::invalidate);
    pieces.clear();
    if (apart) {
      release();
    } else if (chunks.size() > 1) {
      long before = taken;
      release();
      add(aligned(before + before / 16));
    }
    current = 0;
    used = 0;
    taken = 0;
  }

  private void release() {
    chunks.forEach(chunk -> memory.free(chunk.address));
    chunks.clear();
    bytes = 0;
  }

  long bytesHeld() {
    return bytes;
  }

  long peakBytes() {
    return peakBytes;
  }

  @Override
  public void close() {
    pieces.forEach(Piece::invalidate);
    pieces.clear();
    release();
  }
}
