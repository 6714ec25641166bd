package org.draftmill.corpus.plan;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.plan.JobListFormat.Damage;

/**
 * Jobs of one list in order, read block by block. Not thread-safe.
 *
 * <p>{@link #next()} throws {@link InputException} where the file is damaged and {@link
 * UncheckedIOException} where it cannot be read; no job of a damaged block is returned.
 */
public final class JobIterator implements Iterator<Job>, Closeable {
  private final InputStream in;
  private final Damage damage;
  private final JobListHeader header;
  private long block; // the next one to read
  private long position; // of the next block
  private long index; // of the next job
  private ByteBuffer body = ByteBuffer.allocate(0); // jobs of the block at hand, not yet returned
  private long bodyPosition;

  JobIterator(InputStream in, Damage damage, JobListHeader header, long block, long position) {
    this.in = in;
    this.damage = damage;
    this.header = header;
    this.block = block;
    this.position = position;
    this.index = Math.min(block * header.jobsPerBlock(), header.jobs());
  }

  /** What the list says of itself. */
  public JobListHeader header() {
    return header;
  }

  @Override
  public boolean hasNext() {
    return index < header.jobs();
  }

  @Override
  public Job next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the list has " + header.jobs() + " jobs");
    }
    if (!body.hasRemaining()) {
      readBlock();
    }
    int tokens = body.getInt();
    int bucket = body.getInt();
    long[] sequences = new long[body.getInt()];
    for (int k = 0; k < sequences.length; k++) {
      sequences[k] = body.getInt();
    }
    return new Job(header.epoch(), index++, bucket, sequences, tokens);
  }

  void skip(int jobs) {
    for (int i = 0; i < jobs; i++) {
      next();
    }
  }

  private void readBlock() {
    ByteBuffer head = JobListFormat.buffer(JobListFormat.BLOCK_HEADER_BYTES);
    fill(head, 0);
    int jobs = head.getInt(8);
    int bytes = head.getInt(12);
    long expected = Math.min(header.jobsPerBlock(), header.jobs() - index);
    long most = expected * JobListFormat.JOB_BYTES + header.sequences() * JobListFormat.ID_BYTES;
    if (head.getLong(0) != block || jobs != expected || bytes < 0 || bytes > most) {
      throw damage.at(
          position,
          "block %d calls itself %d, with %d jobs in %d bytes"
              .formatted(block, head.getLong(0), jobs, bytes));
    }
    ByteBuffer whole = JobListFormat.buffer(head.capacity() + bytes + JobListFormat.CHECKSUM_BYTES);
    whole.put(head.flip());
    fill(whole, head.capacity());
    int end = head.capacity() + bytes;
    if (whole.getInt(end) != JobListFormat.checksum(whole, 0, end)) {
      throw damage.at(position, "the checksum of block " + block + " does not match");
    }
    body = whole.position(head.capacity()).limit(end);
    bodyPosition = position + head.capacity();
    checkJobs(jobs);
    block++;
    position += whole.capacity();
  }

  /** Checks the jobs of a block, so that reading them needs no checks. */
  private void checkJobs(int jobs) {
    int at = body.position();
    for (int i = 0; i < jobs; i++) {
      int size = body.limit() - at < JobListFormat.JOB_BYTES ? -1 : body.getInt(at + 8);
      int next = at + JobListFormat.JOB_BYTES;
      if (size < 1 || size > (body.limit() - next) / JobListFormat.ID_BYTES) {
        throw damage.at(
            bodyPosition + at - body.position(), "job " + (index + i) + " overruns its block");
      }
      at = next + size * JobListFormat.ID_BYTES;
    }
    if (at != body.limit()) {
      throw damage.at(
          bodyPosition + at - body.position(), "block " + block + " has bytes after its last job");
    }
  }

  /** Reads until the buffer is full. */
  private void fill(ByteBuffer bytes, int alreadyRead) {
    try {
      int read = in.readNBytes(bytes.array(), bytes.position(), bytes.remaining());
      if (read < bytes.remaining()) {
        throw damage.at(position + alreadyRead + read, "it ends within block " + block);
      }
      bytes.position(bytes.limit());
    } catch (IOException e) {
      throw new UncheckedIOException(
          "Reading the job list " + damage.file() + " failed at byte " + position, e);
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
