package org.draftmill.compute.cuda;

import java.util.HashMap;
import java.util.Map;
import org.draftmill.compute.host.HostWorkspace;

/**
 * Device memory that operations keep for their next call, one buffer for each use that is named; a
 * buffer grows to the largest size it was asked for. Its content is undefined at each call.
 */
final class Scratch implements CudaBackend.Part {
  private final DeviceMemory memory;
  private final Transfers transfers;
  private final boolean exact = Boolean.getBoolean(HostWorkspace.POISON);
  private final Map<String, Piece> pieces = new HashMap<>();

  Scratch(DeviceMemory memory, Transfers transfers) {
    this.memory = memory;
    this.transfers = transfers;
  }

  /** At least {@code bytes} bytes, aligned to 256; exactly as many where memory is watched. */
  Piece bytes(String use, long bytes) {
    Piece piece = pieces.get(use);
    if (piece != null && (exact ? piece.bytes() == bytes : piece.bytes() >= bytes)) {
      return piece;
    }
    if (piece != null) {
      pieces.remove(use);
      long address = piece.address();
      piece.invalidate();
      memory.free(address);
    }
    long length = Math.max(bytes, 1);
    piece = new Piece(memory.allocate(length), length);
    pieces.put(use, piece);
    return piece;
  }

  CudaMatrix matrix(String use, int rows, int columns) {
    long bytes = Math.multiplyExact(Math.multiplyFull(rows, columns), Float.BYTES);
    return new CudaMatrix(transfers, bytes(use, bytes), 0, rows, columns);
  }

  CudaInts ints(String use, int size) {
    return new CudaInts(transfers, bytes(use, (long) size * Integer.BYTES), size);
  }

  /** A copy of {@code values} on the device. */
  CudaInts ints(String use, int[] values) {
    CudaInts ints = ints(use, values.length);
    transfers.write(values, ints);
    return ints;
  }

  /**
   * A copy of {@code values} on the device, as doubles: the low half of each, then the high one.
   */
  CudaInts doubles(String use, double[] values) {
    int[] halves = new int[2 * values.length];
    for (int i = 0; i < values.length; i++) {
      long bits = Double.doubleToRawLongBits(values[i]);
      halves[2 * i] = (int) bits;
      halves[2 * i + 1] = (int) (bits >>> Integer.SIZE);
    }
    return ints(use, halves);
  }

  long bytesHeld() {
    return pieces.values().stream().mapToLong(Piece::bytes).sum();
  }

  @Override
  public void close() {
    pieces.values().forEach(piece -> memory.free(piece.address()));
    pieces.clear();
  }
}
