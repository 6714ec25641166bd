package org.draftmill.corpus.plan;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;

/**
 * The file {@code epoch-NNNN.jobs}, version 1. All numbers are little-endian.
 *
 * <pre>
 * header, H = 120 + 4 N bytes
 *   0    8  magic "DMILJOBS"
 *   8    4  version, 1
 *   12   4  H
 *   16   4  epoch
 *   20   4  token budget
 *   24   8  seed
 *   32  32  fingerprint of the dataset (SHA-256)
 *   64   8  J, number of jobs
 *   72   8  S, number of sequences in all jobs together
 *   80   8  tokens in all jobs together
 *   88   8  sequences left out since they are longer than the budget
 *   96   4  tokens of the largest job
 *   100  4  sequences of the job that has most
 *   104  4  P, jobs in a block
 *   108  4  oversized: 0 own-job, 1 reject
 *   112  4  N, number of bucket bounds
 *   116 4N  bucket bounds
 *   H-4  4  CRC-32C of bytes 0 to H-4
 * blocks, B = ceil(J / P) of them, each with P jobs, the last with what is left
 *   0    8  number of the block, from 0
 *   8    4  jobs in it
 *   12   4  L, bytes of its jobs
 *   16   L  its jobs, each: tokens (4), bucket (4), n (4), n sequence ids (4 each)
 *   16+L 4  CRC-32C of bytes 0 to 16+L of the block
 * index
 *   0   8B  where in the file each block starts
 *   8B   4  CRC-32C of bytes 0 to 8B of the index
 * </pre>
 *
 * <p>Every byte is covered by exactly one checksum, so a damaged block is found when it is read and
 * a reader that starts in the middle need not read what lies before. The length of the file follows
 * from the header, {@code H + 20 B + 12 J + 4 S + 8 B + 4}, and is checked before anything is
 * allocated; the index starts where {@code 8 B + 4} bytes are left.
 */
final class JobListFormat {
  static final byte[] MAGIC = {'D', 'M', 'I', 'L', 'J', 'O', 'B', 'S'};
  static final int VERSION = 1;

  /** Bytes of the header up to and including its length. */
  static final int PREFIX_BYTES = 16;

  private static final int FIXED_HEADER_BYTES = 120;
  static final int BLOCK_HEADER_BYTES = 16;
  static final int CHECKSUM_BYTES = 4;
  static final int JOB_BYTES = 12;
  static final int ID_BYTES = 4;
  static final int INDEX_ENTRY_BYTES = 8;

  /** Jobs in a block of the lists that are written; other sizes are read all the same. */
  static final int JOBS_PER_BLOCK = 64;

  private JobListFormat() {}

  static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static int headerBytes(int bounds) {
    return FIXED_HEADER_BYTES + 4 * bounds;
  }

  static long blocks(JobListHeader header) {
    return (header.jobs() + header.jobsPerBlock() - 1) / header.jobsPerBlock();
  }

  static long indexBytes(JobListHeader header) {
    return blocks(header) * INDEX_ENTRY_BYTES + CHECKSUM_BYTES;
  }

  /** Length of the whole file. */
  static long fileBytes(JobListHeader header) {
    return headerBytes(header.bounds().upper().size())
        + blocks(header) * (BLOCK_HEADER_BYTES + CHECKSUM_BYTES)
        + header.jobs() * JOB_BYTES
        + header.sequences() * ID_BYTES
        + indexBytes(header);
  }

  /** CRC-32C of {@code bytes[from, to)}. */
  static int checksum(ByteBuffer bytes, int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate().position(from).limit(to));
    return (int) crc.getValue();
  }

  /** Appends the checksum of all that was written so far. */
  static ByteBuffer seal(ByteBuffer written) {
    return written.putInt(checksum(written, 0, written.position()));
  }

  static ByteBuffer encode(JobListHeader header) {
    List<Integer> bounds = header.bounds().upper();
    int length = headerBytes(bounds.size());
    ByteBuffer bytes = buffer(length);
    bytes.put(MAGIC).putInt(VERSION).putInt(length);
    bytes.putInt(header.epoch()).putInt(header.tokenBudget()).putLong(header.seed());
    bytes.put(header.dataset().bytes());
    bytes.putLong(header.jobs()).putLong(header.sequences()).putLong(header.tokens());
    bytes.putLong(header.leftOut());
    bytes.putInt(header.largestJobTokens()).putInt(header.largestJobSequences());
    bytes.putInt(header.jobsPerBlock()).putInt(header.oversized().ordinal());
    bytes.putInt(bounds.size());
    bounds.forEach(bytes::putInt);
    return seal(bytes).flip();
  }

  /**
   * Reads the length of the header.
   *
   * @param prefix the first {@link #PREFIX_BYTES} bytes of the file
   */
  static int headerLength(ByteBuffer prefix, Damage damage) {
    byte[] magic = new byte[MAGIC.length];
    prefix.get(0, magic);
    if (!Arrays.equals(magic, MAGIC)) {
      throw damage.at(0, "it does not begin with DMILJOBS, so it is no job list");
    }
    int version = prefix.getInt(8);
    if (version != VERSION) {
      throw damage.at(
          8, "its version is " + version + "; this build reads version " + VERSION + " only");
    }
    int length = prefix.getInt(12);
    if (length < headerBytes(0)
        || length > headerBytes(BucketBounds.MAX_BOUNDS)
        || length % 4 != 0) {
      throw damage.at(12, "its header claims " + length + " bytes");
    }
    return length;
  }

  /** Reads a whole header, of the length that {@link #headerLength} gave. */
  static JobListHeader decode(ByteBuffer bytes, Damage damage) {
    int end = bytes.capacity() - CHECKSUM_BYTES;
    if (bytes.getInt(end) != checksum(bytes, 0, end)) {
      throw damage.at(end, "the checksum of its header does not match");
    }
    int count = bytes.getInt(112);
    if (count != (bytes.capacity() - FIXED_HEADER_BYTES) / 4) {
      throw damage.at(112, "its header claims " + count + " bucket bounds");
    }
    List<Integer> bounds = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      bounds.add(bytes.getInt(116 + 4 * i));
    }
    byte[] digest = new byte[Fingerprint.BYTES];
    bytes.get(32, digest);
    int oversized = bytes.getInt(108);
    if (oversized < 0 || oversized >= Oversized.values().length) {
      throw damage.at(108, "its policy for oversized sequences is " + oversized);
    }
    JobListHeader header;
    try {
      header =
          new JobListHeader(
              bytes.getInt(16),
              bytes.getInt(20),
              bytes.getLong(24),
              Fingerprint.of(digest),
              bytes.getLong(64),
              bytes.getLong(72),
              bytes.getLong(80),
              bytes.getLong(88),
              bytes.getInt(96),
              bytes.getInt(100),
              bytes.getInt(104),
              Oversized.values()[oversized],
              new BucketBounds(bounds));
    } catch (InputException e) {
      throw damage.at(16, "its header makes no sense: " + e.getMessage());
    }
    return header;
  }

  /** Words an error about one file. */
  record Damage(String file) {
    InputException at(long offset, String what) {
      return new InputException(
          "The job list %s is damaged or of another kind: at byte %d %s. Plan again to replace it."
              .formatted(file, offset, what));
    }
  }
}
