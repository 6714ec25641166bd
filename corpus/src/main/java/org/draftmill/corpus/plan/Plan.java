package org.draftmill.corpus.plan;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.ByteSource;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.io.Digests;
import org.draftmill.corpus.io.JsonFile;

/**
 * A plan directory: {@code plan.json} and one job list an epoch.
 *
 * <p>The epochs form one concatenated list; {@link #epochOf} and {@link #firstJob} translate
 * between places in it and (epoch, index). Instances are immutable and thread-safe.
 */
public final class Plan {
  /** The file beside the job lists. */
  public static final String FILE = "plan.json";

  static final String FORMAT = "draftmill-plan";
  static final int VERSION = 1;

  private final ByteSources directory;
  private final PlanManifest manifest;
  private final long[] firstJobs; // [epochs + 1], where each epoch starts in the concatenated list

  private Plan(ByteSources directory, PlanManifest manifest) {
    this.directory = directory;
    this.manifest = manifest;
    this.firstJobs = new long[manifest.epochs().size() + 1];
    for (int epoch = 0; epoch < manifest.epochs().size(); epoch++) {
      firstJobs[epoch + 1] = firstJobs[epoch] + manifest.epochs().get(epoch).jobs();
    }
  }

  /**
   * Reads {@code plan.json}; the job lists are opened later.
   *
   * @throws InputException if it cannot be understood
   * @throws IOException if it cannot be read
   */
  public static Plan read(ByteSources directory) throws IOException {
    return new Plan(
        directory, JsonFile.read(directory.file(FILE), FORMAT, VERSION, PlanManifest.class));
  }

  /** What {@code plan.json} says. */
  public PlanManifest manifest() {
    return manifest;
  }

  /** Number of epochs. */
  public int epochs() {
    return manifest.epochs().size();
  }

  /** Number of jobs of all epochs together. */
  public long jobs() {
    return firstJobs[epochs()];
  }

  /** Where the epoch starts in the concatenated list; for {@code epochs()} the end of the list. */
  public long firstJob(int epoch) {
    return firstJobs[epoch];
  }

  /** The epoch to which a place in the concatenated list belongs. */
  public int epochOf(long job) {
    if (job < 0 || job >= jobs()) {
      throw new IndexOutOfBoundsException("job " + job + " of " + jobs());
    }
    int epoch = 0;
    while (job >= firstJobs[epoch + 1]) {
      epoch++;
    }
    return epoch;
  }

  /**
   * Opens the list of an epoch.
   *
   * @throws InputException if the list is damaged or belongs to another plan
   */
  public JobList jobList(int epoch) throws IOException {
    PlanManifest.Epoch expected = manifest.epochs().get(epoch);
    JobList list = JobList.open(directory.file(expected.file()));
    JobListHeader header = list.header();
    if (header.epoch() != epoch
        || header.jobs() != expected.jobs()
        || header.sequences() != expected.sequences()
        || header.tokens() != expected.tokens()
        || header.largestJobTokens() != expected.largestJobTokens()
        || header.largestJobSequences() != expected.largestJobSequences()
        || header.seed() != manifest.seed()
        || header.tokenBudget() != manifest.tokenBudget()
        || header.oversized() != Oversized.parse(manifest.oversized())
        || !header.bounds().upper().equals(manifest.bucketBounds())
        || !header.dataset().hex().equals(manifest.dataset())) {
      throw new InputException(
          "The job list %s was made for another plan than the %s beside it; plan again."
              .formatted(list.name(), FILE));
    }
    return list;
  }

  /**
   * Reads all job lists whole and checks every checksum.
   *
   * @throws InputException naming the first file that is damaged
   */
  public void verify() throws IOException {
    for (int epoch = 0; epoch < epochs(); epoch++) {
      jobList(epoch).verify();
      PlanManifest.Epoch expected = manifest.epochs().get(epoch);
      ByteSource source = directory.file(expected.file());
      MessageDigest digest = Digests.sha256();
      try (InputStream in = new DigestInputStream(source.open(0), digest)) {
        in.transferTo(OutputStream.nullOutputStream());
      }
      String found = HexFormat.of().formatHex(digest.digest());
      if (!found.equals(expected.sha256())) {
        throw new InputException(
            "The job list %s has the SHA-256 %s where %s says %s; plan again."
                .formatted(source.name(), found, FILE, expected.sha256()));
      }
    }
  }
}
