package org.draftmill.corpus.dataset;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.draftmill.corpus.io.InputFile;

/**
 * A file mapped into memory, of any length, little-endian. Thread-safe; unmapped when unreachable.
 *
 * <p>A mapping holds at most 2 GB, so the file is mapped in segments. Each reaches a few bytes into
 * the next, so that an element lies whole in the segment in which it begins.
 */
final class MappedFile {
  private static final int SEGMENT_BITS = 30;
  private static final int OVERLAP_BYTES = 8;

  private final Path path;
  private final long length;
  private final int segmentBits;
  private final long segmentBytes;
  private final ByteBuffer[] segments;

  MappedFile(Path path) throws IOException {
    this(path, SEGMENT_BITS);
  }

  /**
   * @param segmentBits a segment has two to this power bytes, besides the overlap
   */
  MappedFile(Path path, int segmentBits) throws IOException {
    this.path = path;
    this.segmentBits = segmentBits;
    this.segmentBytes = 1L << segmentBits;
    try (FileChannel channel = InputFile.open(path)) {
      length = channel.size();
      segments = new ByteBuffer[Math.toIntExact((length + segmentBytes - 1) >> segmentBits)];
      for (int i = 0; i < segments.length; i++) {
        long start = i * segmentBytes;
        long bytes = Math.min(segmentBytes + OVERLAP_BYTES, length - start);
        segments[i] =
            channel.map(FileChannel.MapMode.READ_ONLY, start, bytes).order(ByteOrder.LITTLE_ENDIAN);
      }
    }
  }

  Path path() {
    return path;
  }

  long length() {
    return length;
  }

  byte byteAt(long position) {
    return segment(position).get(within(position));
  }

  int intAt(long position) {
    return segment(position).getInt(within(position));
  }

  long longAt(long position) {
    return segment(position).getLong(within(position));
  }

  /** Copies {@code target.length} integers. */
  void ints(long position, int[] target) {
    int done = 0;
    while (done < target.length) {
      long from = position + 4L * done;
      int until = (int) Math.min(target.length - done, (segmentBytes - within(from) + 3) / 4);
      segment(from)
          .slice(within(from), 4 * until)
          .order(ByteOrder.LITTLE_ENDIAN)
          .asIntBuffer()
          .get(target, done, until);
      done += until;
    }
  }

  /** Copies {@code target.length} bytes. */
  void bytes(long position, byte[] target) {
    int done = 0;
    while (done < target.length) {
      long from = position + done;
      int until = (int) Math.min(target.length - done, segmentBytes - within(from));
      segment(from).get(within(from), target, done, until);
      done += until;
    }
  }

  private ByteBuffer segment(long position) {
    return segments[(int) (position >> segmentBits)];
  }

  private int within(long position) {
    return (int) (position & (segmentBytes - 1));
  }
}
