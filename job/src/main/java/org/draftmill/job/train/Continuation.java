package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.draftmill.compute.InputException;
import org.draftmill.job.run.DrafterStates;
import org.draftmill.job.run.FlinkCheckpoint;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.operators.drafter.state.MetadataChecksums;
import org.draftmill.operators.drafter.state.RunIdentity;
import org.draftmill.operators.drafter.state.SnapshotReference;
import org.draftmill.operators.drafter.state.StateFiles;

/**
 * Where a run stands when its process starts, from its training log and its saved states. The log
 * decides whether it is complete: it holds the steps of completed checkpoints, and Flink deletes
 * its checkpoints when a job has finished, so a process that dies between that and its summary
 * leaves a whole log and no state. One that dies a moment before may leave the last dead letters in
 * a file that only going on from the last checkpoint makes visible.
 *
 * <p>A run goes on from the newest state that is whole. If that lies before the end of the log, for
 * newer ones are damaged or gone, the steps between are trained again, to the same weights, and the
 * log is {@linkplain #rollBack rolled back} first so that each stands there once.
 *
 * @param from what to go on from
 * @param steps that the run holds there
 * @param loggedSteps that the training log holds
 * @param damaged what is wrong with the newer states that are passed over, a sentence each
 * @param passedOver where those lie
 * @param identity of the run that made the state, as far as it is known
 */
public record Continuation(
    Kind kind,
    Optional<SavedState> from,
    long steps,
    long loggedSteps,
    List<String> damaged,
    List<Path> passedOver,
    Optional<RunIdentity> identity) {

  /** What there is to do. */
  public enum Kind {
    /** Nothing is there yet. */
    BEGIN,
    /** Go on from a saved state. */
    RESUME,
    /** Every step is trained and the final drafter exported; only the summary may be missing. */
    COMPLETE
  }

  /**
   * @param steps of the whole run
   * @throws InputException if the log is damaged, or holds steps and there is no state to go on
   *     from
   */
  public static Continuation of(RunDirectory run, long steps) throws IOException {
    long logged = logged(run);
    if (isTrained(run, steps, logged)) {
      return lettersOfTheLastMoment(run, steps)
          .orElse(
              new Continuation(
                  Kind.COMPLETE,
                  Optional.empty(),
                  logged,
                  logged,
                  List.of(),
                  List.of(),
                  Optional.empty()));
    }
    SavedState.Found found = SavedState.find(run.checkpoints());
    List<String> damaged = new ArrayList<>();
    List<Path> passedOver = new ArrayList<>(found.damaged());
    for (Path path : found.damaged()) {
      damaged.add(path + " is damaged, its _metadata cannot be read.");
    }
    for (SavedState state : found.complete()) {
      try {
        return resume(run, state, logged, damaged, passedOver);
      } catch (InputException e) {
        damaged.add(e.getMessage());
        passedOver.add(state.path());
      }
    }
    if (logged > 0) {
      throw new InputException(
          "The training log of %s holds %d of %d steps, but there is no checkpoint to go on from, and to train them again would count each twice. %sStart anew with --fresh or another run.dir."
              .formatted(
                  run.root(),
                  logged,
                  steps,
                  damaged.isEmpty()
                      ? ""
                      : String.join(" ", damaged) + " Put what is damaged back from a copy. Or: "));
    }
    return new Continuation(
        Kind.BEGIN, Optional.empty(), 0, 0, damaged, passedOver, Optional.empty());
  }

  /**
   * Whether every step stands in the log and the final drafter is exported; then only dead letters
   * may still wait in a state, as long as no job has ended there.
   *
   * @param steps of the whole run
   * @throws InputException if the log is damaged
   */
  static boolean isTrained(RunDirectory run, long steps) throws IOException {
    return isTrained(run, steps, logged(run));
  }

  private static boolean isTrained(RunDirectory run, long steps, long logged) {
    return logged == steps && Files.isDirectory(run.export().resolve(StateFiles.stepName(steps)));
  }

  /** Steps in the log. */
  private static long logged(RunDirectory run) throws IOException {
    List<TrainingLog.Row> rows = TrainingLog.read(run.log());
    requireSuccessive(run, rows);
    return rows.size();
  }

  /** From the last checkpoint, if it holds all steps and dead letters may wait in it. */
  private static Optional<Continuation> lettersOfTheLastMoment(RunDirectory run, long steps)
      throws IOException {
    if (!TrainingLog.hasUnfinished(run.deadLetters())) {
      return Optional.empty();
    }
    Optional<SavedState> last = SavedState.list(run.checkpoints()).stream().findFirst();
    if (last.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(resume(run, last.get(), steps, List.of(), List.of()))
          .filter(there -> there.steps() == steps);
    } catch (InputException damaged) {
      return Optional.empty(); // the weights are there; what it held of the letters is lost
    }
  }

  /**
   * From a state that the user names, which must be whole: there is none to pass on to.
   *
   * @param place as given to Flink: a path or an address
   * @return empty if it does not lie on a file system of this host, so that Flink alone can read it
   * @throws InputException if it is not whole
   */
  public static Optional<Continuation> from(RunDirectory run, String place) throws IOException {
    org.apache.flink.core.fs.Path given = new org.apache.flink.core.fs.Path(place);
    String scheme = given.toUri().getScheme();
    if (scheme != null && !scheme.equals("file")) {
      return Optional.empty();
    }
    Path path = Path.of(given.getPath()).toAbsolutePath().normalize();
    SavedState state = SavedState.at(path, new MetadataChecksums(run.checkpoints()));
    int logged = TrainingLog.read(run.log()).size();
    return Optional.of(resume(run, state, logged, List.of(), List.of()));
  }

  /**
   * @throws InputException if the state is not whole
   */
  private static Continuation resume(
      RunDirectory run, SavedState state, long logged, List<String> damaged, List<Path> passedOver)
      throws IOException {
    FlinkCheckpoint checkpoint = FlinkCheckpoint.read(state.path());
    checkpoint.requireFiles();
    checkpoint.requireDrafters(run.root());
    Optional<SnapshotReference> drafter = checkpoint.drafters().stream().findFirst();
    OptionalLong open =
        drafter.isPresent()
            ? OptionalLong.of(drafter.get().step())
            : DrafterStates.openStep(run, state);
    return new Continuation(
        Kind.RESUME,
        Optional.of(state),
        Math.min(open.orElse(logged), logged),
        logged,
        List.copyOf(damaged),
        List.copyOf(passedOver),
        drafter.map(SnapshotReference::identity));
  }

  /**
   * @param now what the run would be
   * @throws InputException if the state belongs to another run; every difference is named
   */
  public void requireSameAs(RunIdentity now) {
    identity.ifPresent(now::requireSameAs);
  }

  /** What a user should know of the states that are passed over; empty if none is. */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>(damaged);
    if (from.isPresent() && steps < loggedSteps) {
      warnings.add(
          "the run goes on from %s: the steps %d to %d are trained again, to the same weights; their rows of the training log are kept in log/replaced/"
              .formatted(from.orElseThrow().path().getFileName(), steps, loggedSteps - 1));
    }
    return warnings;
  }

  /**
   * Takes back from the training log what will be trained again, and takes what was passed over out
   * of the states to resume from.
   */
  public void rollBack(RunDirectory run) throws IOException {
    for (Path path : passedOver) {
      SavedState.setAside(path);
    }
    if (steps < loggedSteps) {
      TrainingLog.rollBack(run.log(), steps);
    }
  }

  private static void requireSuccessive(RunDirectory run, List<TrainingLog.Row> rows) {
    for (int i = 0; i < rows.size(); i++) {
      if (rows.get(i).step() != i) {
        throw new InputException(
            "The training log in %s holds step %d where step %d should be: a file of it is missing or was added. Put it right, or start anew with --fresh or another run.dir."
                .formatted(run.log(), rows.get(i).step(), i));
      }
    }
  }
}
