package org.draftmill.job.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Deletes what drafters wrote for savepoints that are gone. A drafter cannot know whether somebody
 * still has a savepoint, so it leaves those files. But a savepoint from which a run goes on is
 * Flink's from then on, and is deleted when newer checkpoints have taken its place: {@code
 * checkpoints/claimed-savepoints} holds the numbers of those, one a line. Files of other savepoints
 * are never touched.
 */
public final class ClaimedSavepoints {
  private static final String FILE = "claimed-savepoints";

  private ClaimedSavepoints() {}

  /**
   * Remembers that a run goes on from a state, or is about to delete it; checkpoints are no matter.
   */
  public static void claim(RunDirectory run, SavedState state) throws IOException {
    if (state.isSavepoint()) {
      TreeSet<Long> claimed = read(run);
      claimed.add(state.id());
      write(run, claimed);
    }
  }

  /** Deletes the drafters' files of all that were claimed and are gone. */
  public static void prune(RunDirectory run) throws IOException {
    TreeSet<Long> claimed = read(run);
    List<Long> present =
        SavedState.list(run.checkpoints()).stream()
            .filter(SavedState::isSavepoint)
            .map(SavedState::id)
            .toList();
    for (long id : new ArrayList<>(claimed)) {
      if (!present.contains(id)) {
        DrafterStates.deleteSavepoint(run, id);
        claimed.remove(id);
      }
    }
    write(run, claimed);
  }

  private static TreeSet<Long> read(RunDirectory run) throws IOException {
    TreeSet<Long> claimed = new TreeSet<>();
    if (Files.exists(file(run))) {
      Files.readAllLines(file(run)).forEach(line -> claimed.add(Long.parseLong(line)));
    }
    return claimed;
  }

  private static void write(RunDirectory run, TreeSet<Long> claimed) throws IOException {
    if (claimed.isEmpty()) {
      Files.deleteIfExists(file(run));
    } else {
      Files.write(file(run), claimed.stream().map(String::valueOf).toList());
    }
  }

  private static Path file(RunDirectory run) {
    return run.checkpoints().resolve(FILE);
  }
}
