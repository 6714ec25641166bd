package org.draftmill.corpus.plan;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.Digests;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.corpus.io.JsonFile;

/** Plans a dataset and writes the plan's directory; the same input gives the same bytes. */
public final class PlanWriter {
  private PlanWriter() {}

  /** Name of the job list of an epoch. */
  public static String fileName(int epoch) {
    return String.format(Locale.ROOT, "epoch-%04d.jobs", epoch);
  }

  /**
   * Plans all epochs and writes them to a local directory, {@code plan.json} last and at once, so a
   * directory that holds it is whole.
   *
   * @throws InputException if the dataset cannot be planned or the directory holds a plan already
   */
  public static PlanManifest write(PlanInput input, PlanOptions options, Path directory)
      throws IOException {
    Path manifestFile = directory.resolve(Plan.FILE);
    if (Files.exists(directory) && !Files.isDirectory(directory)) {
      throw new InputException(
          "The plan is to go into a directory, but "
              + directory
              + " is a file; give another path.");
    }
    if (InputFile.isNamed(manifestFile)) {
      throw new InputException(
          "The directory " + directory + " holds a plan already; give another one or remove it.");
    }
    PlanBuilder builder = new PlanBuilder(input.lengths(), input.fingerprint(), options);
    Files.createDirectories(directory);

    long leftOut = 0;
    long supervised = input.supervisedTokens();
    for (int id = 0; id < input.lengths().length; id++) {
      if (builder.leavesOut(id)) {
        leftOut++;
        supervised -= input.supervisedOf().applyAsInt(id);
      }
    }
    List<PlanManifest.Epoch> epochs = new ArrayList<>();
    for (int epoch = 0; epoch < options.epochs(); epoch++) {
      PlannedEpoch planned = builder.epoch(epoch);
      JobListWriter list = new JobListWriter(planned, input.fingerprint(), options, leftOut);
      epochs.add(write(list, planned, supervised, options, directory));
    }
    PlanManifest manifest = manifest(input, options, leftOut, epochs);
    Path unfinished = directory.resolve(Plan.FILE + ".tmp");
    Files.write(unfinished, JsonFile.encode(Plan.FORMAT, Plan.VERSION, manifest));
    Files.move(unfinished, manifestFile, StandardCopyOption.ATOMIC_MOVE);
    return manifest;
  }

  private static PlanManifest.Epoch write(
      JobListWriter list,
      PlannedEpoch planned,
      long supervised,
      PlanOptions options,
      Path directory)
      throws IOException {
    String name = fileName(planned.epoch());
    MessageDigest digest = Digests.sha256();
    try (OutputStream file = Files.newOutputStream(directory.resolve(name));
        OutputStream out =
            new BufferedOutputStream(new DigestOutputStream(file, digest), 1 << 16)) {
      list.writeTo(out);
    }
    JobListHeader header = list.header();
    return new PlanManifest.Epoch(
        name,
        header.jobs(),
        header.sequences(),
        header.tokens(),
        supervised,
        header.largestJobTokens(),
        header.largestJobSequences(),
        JobListFormat.fileBytes(header),
        HexFormat.of().formatHex(digest.digest()),
        buckets(planned, options.bounds()));
  }

  private static List<PlanManifest.Bucket> buckets(PlannedEpoch planned, BucketBounds bounds) {
    long[] jobs = new long[bounds.buckets()];
    long[] sequences = new long[bounds.buckets()];
    long[] tokens = new long[bounds.buckets()];
    for (int job = 0; job < planned.jobs(); job++) {
      int bucket = planned.bucket(job);
      jobs[bucket]++;
      sequences[bucket] += planned.size(job);
      tokens[bucket] += planned.tokens(job);
    }
    List<PlanManifest.Bucket> buckets = new ArrayList<>();
    for (int b = 0; b < bounds.buckets(); b++) {
      buckets.add(new PlanManifest.Bucket(bounds.label(b), jobs[b], sequences[b], tokens[b]));
    }
    return buckets;
  }

  private static PlanManifest manifest(
      PlanInput input, PlanOptions options, long leftOut, List<PlanManifest.Epoch> epochs) {
    return new PlanManifest(
        input.fingerprint().hex(),
        options.seed(),
        options.tokenBudget(),
        options.bounds().upper(),
        options.oversized().option(),
        epochs.stream().mapToLong(PlanManifest.Epoch::jobs).sum(),
        epochs.stream().mapToLong(PlanManifest.Epoch::tokens).sum(),
        epochs.stream().mapToLong(PlanManifest.Epoch::supervisedTokens).sum(),
        epochs.stream().mapToInt(PlanManifest.Epoch::largestJobTokens).max().orElse(0),
        epochs.stream().mapToInt(PlanManifest.Epoch::largestJobSequences).max().orElse(0),
        leftOut,
        epochs);
  }
}
