package org.draftmill.corpus.plan;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.ByteSource;
import org.draftmill.corpus.plan.JobListFormat.Damage;

/**
 * The persisted list of one epoch's jobs; opening reads the header, jobs are read as they are asked
 * for.
 *
 * <p>Reading from job {@code i} costs one read of the index (eight bytes per 64 jobs) and one
 * block, wherever {@code i} lies. Instances are immutable and thread-safe.
 */
public final class JobList {
  private final ByteSource source;
  private final JobListHeader header;

  private JobList(ByteSource source, JobListHeader header) {
    this.source = source;
    this.header = header;
  }

  /**
   * Opens a list.
   *
   * @throws InputException if the file is no job list, is truncated or has a damaged header
   * @throws IOException if it cannot be read
   */
  public static JobList open(ByteSource source) throws IOException {
    Damage damage = new Damage(source.name());
    long length = source.length();
    try (InputStream in = source.open(0)) {
      JobListHeader header = readHeader(in, damage);
      long expected = JobListFormat.fileBytes(header);
      if (length != expected) {
        throw damage.at(
            Math.min(length, expected),
            "it ends: the file has %d bytes where its header promises %d"
                .formatted(length, expected));
      }
      return new JobList(source, header);
    }
  }

  /**
   * Reads a list from its first byte on, without seeking; closing the iterator closes the stream.
   *
   * @param name what to call it in messages
   * @throws InputException if it is no job list or its header is damaged
   */
  public static JobIterator stream(InputStream in, String name) throws IOException {
    Damage damage = new Damage(name);
    JobListHeader header = readHeader(in, damage);
    return new JobIterator(
        in, damage, header, 0, JobListFormat.headerBytes(header.bounds().upper().size()));
  }

  /** What the list says of itself. */
  public JobListHeader header() {
    return header;
  }

  /** Number of jobs. */
  public long size() {
    return header.jobs();
  }

  /** The file it is read from. */
  public String name() {
    return source.name();
  }

  /**
   * Reads on from job {@code index}; the caller closes the iterator.
   *
   * @param index from 0 up to and including {@link #size()}
   * @throws InputException if the index or the block is damaged
   */
  public JobIterator iteratorFrom(long index) throws IOException {
    if (index < 0 || index > size()) {
      throw new IndexOutOfBoundsException("job " + index + " of " + size());
    }
    Damage damage = new Damage(name());
    long block = index / header.jobsPerBlock();
    if (block == JobListFormat.blocks(header)) {
      return new JobIterator(InputStream.nullInputStream(), damage, header, block, 0);
    }
    long position =
        block == 0
            ? JobListFormat.headerBytes(header.bounds().upper().size())
            : blockPosition(block, damage);
    JobIterator jobs =
        new JobIterator(
            new BufferedInputStream(source.open(position), 1 << 16),
            damage,
            header,
            block,
            position);
    try {
      jobs.skip((int) (index % header.jobsPerBlock()));
      return jobs;
    } catch (RuntimeException e) {
      jobs.close();
      throw e;
    }
  }

  /** Looks a block up in the index, after the checksum of the whole index. */
  private long blockPosition(long block, Damage damage) throws IOException {
    int bytes = Math.toIntExact(JobListFormat.indexBytes(header));
    long start = JobListFormat.fileBytes(header) - bytes;
    ByteBuffer index = JobListFormat.buffer(bytes);
    try (InputStream in = source.open(start)) {
      if (in.readNBytes(index.array(), 0, bytes) < bytes) {
        throw damage.at(start, "its index is cut short");
      }
    }
    int end = bytes - JobListFormat.CHECKSUM_BYTES;
    if (index.getInt(end) != JobListFormat.checksum(index, 0, end)) {
      throw damage.at(start, "the checksum of its index does not match");
    }
    long position = index.getLong(Math.toIntExact(block * JobListFormat.INDEX_ENTRY_BYTES));
    if (position < JobListFormat.PREFIX_BYTES || position >= start) {
      throw damage.at(start, "its index points to byte " + position);
    }
    return position;
  }

  /**
   * Reads every block and the index, and checks all checksums.
   *
   * @throws InputException if anything is damaged or the totals of the header do not add up
   */
  public void verify() throws IOException {
    long sequences = 0;
    long tokens = 0;
    int largestTokens = 0;
    try (JobIterator jobs = iteratorFrom(0)) {
      while (jobs.hasNext()) {
        Job job = jobs.next();
        sequences += job.sequences().length;
        tokens += job.tokens();
        largestTokens = Math.max(largestTokens, job.tokens());
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
    Damage damage = new Damage(name());
    if (sequences != header.sequences()
        || tokens != header.tokens()
        || largestTokens != header.largestJobTokens()) {
      throw damage.at(
          64,
          "its jobs hold %d sequences and %d tokens, the largest %d, where the header says %d, %d and %d"
              .formatted(
                  sequences,
                  tokens,
                  largestTokens,
                  header.sequences(),
                  header.tokens(),
                  header.largestJobTokens()));
    }
    if (size() > 0) {
      blockPosition(0, damage);
    }
  }

  private static JobListHeader readHeader(InputStream in, Damage damage) throws IOException {
    byte[] prefix = in.readNBytes(JobListFormat.PREFIX_BYTES);
    if (prefix.length < JobListFormat.PREFIX_BYTES) {
      throw damage.at(prefix.length, "it ends within its header");
    }
    ByteBuffer start = JobListFormat.buffer(prefix.length).put(prefix).flip();
    ByteBuffer bytes = JobListFormat.buffer(JobListFormat.headerLength(start, damage));
    bytes.put(prefix);
    int read = in.readNBytes(bytes.array(), prefix.length, bytes.remaining());
    if (read < bytes.remaining()) {
      throw damage.at(prefix.length + (long) read, "it ends within its header");
    }
    return JobListFormat.decode(bytes, damage);
  }
}
