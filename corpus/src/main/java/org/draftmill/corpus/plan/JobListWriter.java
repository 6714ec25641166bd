package org.draftmill.corpus.plan;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.draftmill.corpus.Fingerprint;

/** Writes the list of an epoch as {@link JobListFormat} lays it out. */
final class JobListWriter {
  private final PlannedEpoch epoch;
  private final JobListHeader header;

  JobListWriter(PlannedEpoch epoch, Fingerprint dataset, PlanOptions options, long leftOut) {
    this.epoch = epoch;
    long tokens = 0;
    int largestTokens = 0;
    int largestSize = 0;
    for (int job = 0; job < epoch.jobs(); job++) {
      int jobTokens = epoch.tokens(job);
      tokens += jobTokens;
      largestTokens = Math.max(largestTokens, jobTokens);
      largestSize = Math.max(largestSize, epoch.size(job));
    }
    this.header =
        new JobListHeader(
            epoch.epoch(),
            options.tokenBudget(),
            options.seed(),
            dataset,
            epoch.jobs(),
            epoch.sequences(),
            tokens,
            leftOut,
            largestTokens,
            largestSize,
            JobListFormat.JOBS_PER_BLOCK,
            options.oversized(),
            options.bounds());
  }

  JobListHeader header() {
    return header;
  }

  /** Writes the whole file; the stream is neither buffered nor closed here. */
  void writeTo(OutputStream out) throws IOException {
    long position = write(JobListFormat.encode(header), out);
    int blocks = Math.toIntExact(JobListFormat.blocks(header));
    ByteBuffer index = JobListFormat.buffer(Math.toIntExact(JobListFormat.indexBytes(header)));
    for (int block = 0; block < blocks; block++) {
      index.putLong(position);
      position += write(encodeBlock(block), out);
    }
    write(JobListFormat.seal(index).flip(), out);
  }

  private ByteBuffer encodeBlock(int block) {
    int first = block * header.jobsPerBlock();
    int end = Math.min(epoch.jobs(), first + header.jobsPerBlock());
    int bodyBytes = (end - first) * JobListFormat.JOB_BYTES;
    for (int job = first; job < end; job++) {
      bodyBytes = Math.addExact(bodyBytes, epoch.size(job) * JobListFormat.ID_BYTES);
    }
    ByteBuffer bytes =
        JobListFormat.buffer(
            JobListFormat.BLOCK_HEADER_BYTES + bodyBytes + JobListFormat.CHECKSUM_BYTES);
    bytes.putLong(block).putInt(end - first).putInt(bodyBytes);
    for (int job = first; job < end; job++) {
      int size = epoch.size(job);
      bytes.putInt(epoch.tokens(job)).putInt(epoch.bucket(job)).putInt(size);
      for (int k = 0; k < size; k++) {
        bytes.putInt(epoch.sequence(job, k));
      }
    }
    return JobListFormat.seal(bytes).flip();
  }

  private static int write(ByteBuffer bytes, OutputStream out) throws IOException {
    out.write(bytes.array(), 0, bytes.limit());
    return bytes.limit();
  }
}
