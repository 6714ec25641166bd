package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.draftmill.compute.InputException;
import org.draftmill.job.run.DrafterStates;
import org.draftmill.job.run.RunDirectory;
import org.draftmill.job.run.SavedState;
import org.draftmill.operators.drafter.state.StateFiles;

/**
 * Where a run stands when its process starts, from its training log and its saved states. The log
 * decides: it holds the steps of completed checkpoints, so a state behind it would train steps that
 * are counted already. Flink deletes its checkpoints when a job has finished, so a process that
 * dies between that and its summary leaves a whole log and no state.
 *
 * @param loggedSteps that the training log holds
 */
public record Continuation(Kind kind, Optional<SavedState> from, long loggedSteps) {

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
   * @throws InputException if going on would train steps again that the log holds
   */
  public static Continuation of(RunDirectory run, long steps) throws IOException {
    List<TrainingLog.Row> rows = TrainingLog.read(run.log());
    requireSuccessive(run, rows);
    long logged = rows.size();
    if (logged == steps && Files.isDirectory(run.export().resolve(StateFiles.stepName(steps)))) {
      return new Continuation(Kind.COMPLETE, Optional.empty(), logged);
    }
    SavedState.Found found = SavedState.find(run.checkpoints());
    if (found.complete().isEmpty()) {
      if (logged > 0) {
        throw new InputException(
            "The training log of %s holds %d of %d steps, but there is no checkpoint to go on from, and to train them again would count each twice. %s"
                .formatted(run.root(), logged, steps, wayOut(found)));
      }
      return new Continuation(Kind.BEGIN, Optional.empty(), 0);
    }
    SavedState state = found.complete().get(0);
    OptionalLong open = DrafterStates.openStep(run, state);
    if (open.isPresent() && open.getAsLong() < logged) {
      throw new InputException(
          "The newest checkpoint that can be read, %s, stands before step %d, but the training log of the run holds %d steps already: going on would count some twice. %s"
              .formatted(state.path(), open.getAsLong(), logged, wayOut(found)));
    }
    return new Continuation(Kind.RESUME, Optional.of(state), logged);
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

  private static String wayOut(SavedState.Found found) {
    if (found.damaged().isEmpty()) {
      return "Start anew with --fresh or another run.dir.";
    }
    return found.damaged().stream().map(Path::toString).sorted().collect(Collectors.joining(", "))
        + " is damaged, its _metadata cannot be read: put it back from a copy, or start anew with"
        + " --fresh or another run.dir.";
  }
}
