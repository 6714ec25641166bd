package org.draftmill.job.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.AtomicFile;
import org.draftmill.operators.drafter.state.SnapshotReference;

/**
 * Deletes what drafters wrote for savepoints that are gone. A drafter cannot know whether somebody
 * still has a savepoint, so it leaves those files. But a savepoint that the run made for itself, or
 * from which it goes on, is Flink's from then on, and is deleted when newer checkpoints have taken
 * its place: {@code checkpoints/claimed-savepoints} has a line for each file of those,
 *
 * <pre>
 * path of the savepoint below checkpoints/ | tab | path of the drafter's file below the run
 * </pre>
 *
 * <p>Files of other savepoints are never touched, not even of one with the same number, as there is
 * when a run went on from a state before it.
 */
public final class ClaimedSavepoints {
  private static final String FILE = "claimed-savepoints";

  /**
   * @param savepoint below {@code checkpoints/}
   * @param drafter below the run
   */
  private record Claim(String savepoint, String drafter) {
    static Claim parse(String line) {
      int tab = line.indexOf('\t');
      return tab < 0 ? null : new Claim(line.substring(0, tab), line.substring(tab + 1));
    }

    @Override
    public String toString() {
      return savepoint + "\t" + drafter;
    }
  }

  private ClaimedSavepoints() {}

  /** Remembers that a state is the run's own; checkpoints are no matter. */
  public static void claim(RunDirectory run, SavedState state) throws IOException {
    if (!state.isSavepoint()) {
      return;
    }
    Set<Claim> claims = read(run);
    String name = run.checkpoints().relativize(state.path()).toString();
    for (String drafter : drafters(run, state)) {
      claims.add(new Claim(name, drafter));
    }
    write(run, claims);
  }

  /** Whether a savepoint is the run's own. */
  static boolean isClaimed(RunDirectory run, SavedState state) throws IOException {
    String name = run.checkpoints().relativize(state.path()).toString();
    return read(run).stream().anyMatch(claim -> claim.savepoint().equals(name));
  }

  private static List<String> drafters(RunDirectory run, SavedState state) throws IOException {
    List<String> files = new ArrayList<>();
    for (SnapshotReference drafter : FlinkCheckpoint.read(state.path()).drafters()) {
      files.add(drafter.path());
    }
    return files.isEmpty() ? DrafterStates.ofOnlySavepoint(run, state.id()) : files;
  }

  /** Deletes the drafters' files of all that were claimed and are gone. */
  public static void prune(RunDirectory run) throws IOException {
    Set<Claim> claims = read(run);
    Set<Claim> gone = new LinkedHashSet<>();
    for (Claim claim : claims) {
      if (!SavedState.isThere(run.checkpoints().resolve(claim.savepoint()))) {
        gone.add(claim);
      }
    }
    if (!gone.isEmpty()) {
      Set<String> needed = needed(run);
      for (Claim claim : gone) {
        if (!needed.contains(claim.drafter())) {
          DrafterStates.delete(run, claim.drafter());
        }
      }
      claims.removeAll(gone);
    }
    write(run, claims);
  }

  /** What the states that are still there refer to: somebody may have copied a savepoint. */
  private static Set<String> needed(RunDirectory run) throws IOException {
    Set<String> needed = new HashSet<>();
    for (SavedState state : SavedState.list(run.checkpoints())) {
      try {
        FlinkCheckpoint.read(state.path())
            .drafters()
            .forEach(drafter -> needed.add(drafter.path()));
      } catch (InputException damaged) {
        continue; // nobody can say what it needs, nor go on from it
      }
    }
    return needed;
  }

  private static Set<Claim> read(RunDirectory run) throws IOException {
    Set<Claim> claims = new LinkedHashSet<>();
    if (Files.exists(file(run))) {
      // Not as text: bytes that are none must not keep a run from going on.
      String lines = new String(Files.readAllBytes(file(run)), StandardCharsets.UTF_8);
      for (String line : lines.lines().toList()) {
        Claim claim = Claim.parse(line);
        if (claim != null) {
          claims.add(claim);
        }
      }
    }
    return claims;
  }

  private static void write(RunDirectory run, Set<Claim> claims) throws IOException {
    if (claims.isEmpty()) {
      Files.deleteIfExists(file(run));
    } else {
      StringBuilder lines = new StringBuilder();
      claims.forEach(claim -> lines.append(claim).append('\n'));
      AtomicFile.write(file(run), lines.toString().getBytes(StandardCharsets.UTF_8));
    }
  }

  private static Path file(RunDirectory run) {
    return run.checkpoints().resolve(FILE);
  }
}
