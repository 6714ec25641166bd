package org.draftmill.corpus.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.ByteSource;
import org.junit.jupiter.api.Test;

class JobListTest {
  private static final PlanOptions OPTIONS =
      new PlanOptions(7, 1, 60, BucketBounds.parse("10,30"), Oversized.OWN_JOB);

  /** A file in memory that counts the bytes read from it. */
  private static final class TestingSource implements ByteSource {
    private final byte[] bytes;
    private long read;

    TestingSource(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public InputStream open(long position) {
      int from = (int) Math.min(position, bytes.length);
      return new ByteArrayInputStream(bytes, from, bytes.length - from) {
        @Override
        public synchronized int read(byte[] target, int offset, int length) {
          int count = super.read(target, offset, length);
          read += Math.max(0, count);
          return count;
        }
      };
    }

    @Override
    public long length() {
      return bytes.length;
    }

    @Override
    public String name() {
      return "epoch-0003.jobs";
    }
  }

  private static PlannedEpoch planned(int sequences) {
    int[] lengths = PlanBuilderTest.lengths(1, sequences, 70);
    return new PlanBuilder(lengths, PlanBuilderTest.DATASET, OPTIONS).epoch(3);
  }

  private static byte[] write(PlannedEpoch epoch) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new JobListWriter(epoch, PlanBuilderTest.DATASET, OPTIONS, 0).writeTo(out);
    return out.toByteArray();
  }

  private static List<Job> read(JobIterator jobs) throws IOException {
    List<Job> read = new ArrayList<>();
    try (jobs) {
      jobs.forEachRemaining(read::add);
    }
    return read;
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    PlannedEpoch epoch = planned(2_000);
    byte[] bytes = write(epoch);

    JobList list = JobList.open(new TestingSource(bytes));

    assertThat(list.size()).isEqualTo(epoch.jobs()).isGreaterThan(300);
    List<Job> jobs = read(list.iteratorFrom(0));
    for (int i = 0; i < epoch.jobs(); i++) {
      assertThat(jobs.get(i)).isEqualTo(epoch.job(i));
    }
    assertThat(read(JobList.stream(new ByteArrayInputStream(bytes), "stream"))).isEqualTo(jobs);
    assertThat(list.header().sequences()).isEqualTo(2_000);
    assertThat(list.header().tokens()).isEqualTo(jobs.stream().mapToLong(Job::tokens).sum());
    assertThat(list.header().bounds()).isEqualTo(OPTIONS.bounds());
    assertThat(write(planned(2_000))).isEqualTo(bytes);
    list.verify();
  }

  @Test
  void readingStartsAnywhere() throws IOException {
    JobList list = JobList.open(new TestingSource(write(planned(2_000))));
    List<Job> all = read(list.iteratorFrom(0));

    for (int from : new int[] {0, 1, 63, 64, 65, 200, all.size() - 1, all.size()}) {
      assertThat(read(list.iteratorFrom(from))).isEqualTo(all.subList(from, all.size()));
    }
    assertThatThrownBy(() -> list.iteratorFrom(all.size() + 1))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aStartInTheMiddleReadsLittle() throws IOException {
    TestingSource source = new TestingSource(write(planned(200_000)));
    JobList list = JobList.open(source);
    source.read = 0;

    try (JobIterator jobs = list.iteratorFrom(list.size() / 2)) {
      assertThat(jobs.next().index()).isEqualTo(list.size() / 2);
    }

    assertThat(source.read).isLessThan(source.length() / 10);
  }

  @Test
  void oneJobIsAList() throws IOException {
    JobList list = JobList.open(new TestingSource(write(planned(1))));

    assertThat(read(list.iteratorFrom(0))).hasSize(1);
    assertThat(read(list.iteratorFrom(1))).isEmpty();
  }

  /** Every byte is covered by a checksum: whichever changes, reading the list finds it. */
  @Test
  void everyChangedBitIsFound() throws IOException {
    byte[] whole = write(planned(150));
    for (int at = 0; at < whole.length; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= (byte) (1 << at % 8);
      assertThatThrownBy(() -> JobList.open(new TestingSource(damaged)).verify())
          .as("bit %d of byte %d", at % 8, at)
          .isInstanceOf(InputException.class)
          .hasMessageContaining("epoch-0003.jobs")
          .hasMessageContaining("at byte");
    }
  }

  @Test
  void everyTruncationIsFoundOnOpening() throws IOException {
    byte[] whole = write(planned(150));
    for (int length = 0; length < whole.length; length += 1 + length / 50) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThatThrownBy(() -> JobList.open(new TestingSource(cut)))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("ends");
    }
    assertThatThrownBy(
            () -> JobList.open(new TestingSource(Arrays.copyOf(whole, whole.length + 1))))
        .isInstanceOf(InputException.class);
    assertThatThrownBy(
            () ->
                read(
                    JobList.stream(new ByteArrayInputStream(whole, 0, whole.length / 2), "stream")))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("ends within block");
  }

  /** Counts that a forger made consistent with their checksum cost no memory. */
  @Test
  void forgedCountsAreRefusedBeforeAnythingIsAllocated() throws IOException {
    byte[] whole = write(planned(1_000));
    int header = ByteBuffer.wrap(whole).order(ByteOrder.LITTLE_ENDIAN).getInt(12);
    int jobs = 64;
    int sequences = 72;
    int jobsPerBlock = 104;
    int bounds = 112;
    for (int at : new int[] {jobs, jobs + 4, sequences, sequences + 4, jobsPerBlock, bounds}) {
      for (int value : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 30, 1}) {
        ByteBuffer forged = ByteBuffer.wrap(whole.clone()).order(ByteOrder.LITTLE_ENDIAN);
        forged.putInt(at, value);
        forged.putInt(header - 4, JobListFormat.checksum(forged, 0, header - 4));
        assertThatThrownBy(() -> JobList.open(new TestingSource(forged.array())))
            .as("%d at byte %d", value, at)
            .isInstanceOf(InputException.class);
      }
    }
  }

  @Test
  void anotherVersionIsNamed() throws IOException {
    byte[] bytes = write(planned(10));
    bytes[8] = 2;

    assertThatThrownBy(() -> JobList.open(new TestingSource(bytes)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("its version is 2; this build reads version 1 only");
  }
}
