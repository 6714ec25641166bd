package org.draftmill.compute.drafter;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.compute.io.JsonConfig;

/**
 * The states of all drafters at one step, as files: any number of drafters wrote them, any number
 * may read them. A file holds its drafter's shard; the sums of an unfinished step are integers, so
 * whoever reads them may add them. Nothing is kept in memory; checksums are verified as tensors are
 * read. Format in docs/drafter.md.
 */
public final class DrafterStateFiles implements AutoCloseable {
  private final List<DrafterStateFile> files; // by rank

  private DrafterStateFiles(List<DrafterStateFile> files) {
    this.files = files;
  }

  /** Writes one drafter's state; the file appears whole or not at all. Any thread may do it. */
  public static AtomicFile.Written write(Path path, DrafterState state) throws IOException {
    return DrafterStateFile.write(path, state);
  }

  /**
   * Opens the states that the drafters of a run wrote at one step, in any order.
   *
   * @throws InputException when one is missing, damaged, of another version, or of another step
   */
  public static DrafterStateFiles open(List<Path> paths) {
    List<DrafterStateFile> files = new ArrayList<>();
    try {
      for (Path path : paths) {
        files.add(DrafterStateFile.open(path));
      }
      files.sort(Comparator.comparingInt(DrafterStateFile::rank));
      check(files);
      return new DrafterStateFiles(List.copyOf(files));
    } catch (RuntimeException e) {
      files.forEach(DrafterStateFile::close);
      throw e;
    }
  }

  private static void check(List<DrafterStateFile> files) {
    if (files.isEmpty()) {
      throw new InputException("There is no drafter state file to read.");
    }
    DrafterStateFile first = files.get(0);
    int next = 0;
    for (int rank = 0; rank < files.size(); rank++) {
      DrafterStateFile file = files.get(rank);
      if (file.size() != files.size() || file.rank() != rank) {
        throw new InputException(
            "%s: is the state of drafter %d of %d, but %d files were given; all of one checkpoint are needed, each once."
                .formatted(file.path(), file.rank(), file.size(), files.size()));
      }
      file.run().requireSame(first.run(), first.path());
      if (file.step() != first.step() || file.updates() != first.updates()) {
        throw new InputException(
            "%s: is of step %d (%d updates), but %s is of step %d (%d updates); they are not of one checkpoint."
                .formatted(
                    file.path(),
                    file.step(),
                    file.updates(),
                    first.path(),
                    first.step(),
                    first.updates()));
      }
      if (file.from() != next) {
        throw new InputException(
            "%s: holds parameters from %d on where %d was due; it is damaged or of another run."
                .formatted(file.path(), file.from(), next));
      }
      next = file.to();
    }
    if (next != first.parameters()) {
      throw new InputException(
          "%s: the files together hold %d of %d parameters."
              .formatted(first.path(), next, first.parameters()));
    }
  }

  /** Number of the step that was being accumulated. */
  public long step() {
    return files.get(0).step();
  }

  /** Updates of the weights so far. */
  public long updates() {
    return files.get(0).updates();
  }

  /** How many drafters wrote them. */
  public int writers() {
    return files.size();
  }

  /** The drafter's shape. */
  public DrafterConfig config() {
    DrafterStateFile first = files.get(0);
    return ServingConfig.read(JsonConfig.parse(first.path(), first.run().values().get("config")));
  }

  /** All weights in fp32, {@code [parameters]}. */
  public float[] weights() {
    float[] weights = new float[files.get(0).parameters()];
    readFloats(DrafterStateFile.WEIGHTS, 0, weights);
    return weights;
  }

  /** Reads every byte and compares it with its checksum. */
  public void verify() {
    files.forEach(DrafterStateFile::verify);
  }

  /** Throws an {@link InputException} naming what differs, unless {@code run} may go on from it. */
  void requireSame(PinnedRun run) {
    files.get(0).run().requireSame(run, files.get(0).path());
  }

  /** Reads the parameters {@code from … from + destination.length − 1} of a tensor. */
  void readFloats(String name, int from, float[] destination) {
    int to = from + destination.length;
    for (DrafterStateFile file : files) {
      int begin = Math.max(from, file.from());
      int end = Math.min(to, file.to());
      if (begin < end) {
        file.readFloats(name, begin - file.from(), destination, begin - from, end - begin);
      }
    }
  }

  /**
   * Adds the unfinished sums that fall to a drafter: with {@code size} of them now, drafter {@code
   * rank} takes over those of the former drafters {@code rank, rank + size, …}.
   *
   * @param gradient {@code [parameters]} is added to
   * @param scalars as in {@link StepSums}, added to
   */
  void addSums(int rank, int size, long[] gradient, long[] scalars) {
    for (int former = rank; former < files.size(); former += size) {
      DrafterStateFile file = files.get(former);
      if (file.hasSums()) {
        file.addLongs(DrafterStateFile.GRADIENT_SUMS, gradient);
        file.addLongs(DrafterStateFile.SCALAR_SUMS, scalars);
      }
    }
  }

  @Override
  public void close() {
    files.forEach(DrafterStateFile::close);
  }
}
