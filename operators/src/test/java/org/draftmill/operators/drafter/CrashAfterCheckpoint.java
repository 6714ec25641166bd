package org.draftmill.operators.drafter;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.draftmill.operators.jobs.TestingHold;

/**
 * Kills every drafter between the completion of a checkpoint and its notification: it stands behind
 * the drafter in its chain, is therefore notified first, and ends with an {@link Error}, since
 * after an exception Flink would still notify the others of the chain. The drafter never hears of a
 * checkpoint that the job then goes on from.
 */
final class CrashAfterCheckpoint extends RichMapFunction<String, String>
    implements CheckpointedFunction, CheckpointListener {
  private static final long serialVersionUID = 1L;

  private static final Map<UUID, Report> REPORTS = new ConcurrentHashMap<>();

  /** What happened, by the number of the attempt. */
  static final class Report {
    /** The checkpoint that the attempt goes on from. */
    final Map<Integer, Long> restored = new ConcurrentSkipListMap<>();

    /** The checkpoint at whose completion the attempt ended. */
    final Map<Integer, Long> crashed = new ConcurrentSkipListMap<>();

    /** Attempts that ended when there was an export. */
    final Set<Integer> exported = new ConcurrentSkipListSet<>();
  }

  private final UUID id = UUID.randomUUID();
  private final int crashes;
  private final String directory;
  private final TestingHold hold;

  /**
   * @param crashes how many attempts end at their first checkpoint
   * @param directory of the run
   * @param hold of the list of jobs, which must not end before the crashes are over
   */
  CrashAfterCheckpoint(int crashes, Path directory, TestingHold hold) {
    this.crashes = crashes;
    this.directory = directory.toString();
    this.hold = hold;
    REPORTS.put(id, new Report());
  }

  Report report() {
    return REPORTS.get(id);
  }

  private int attempt() {
    return getRuntimeContext().getTaskInfo().getAttemptNumber();
  }

  @Override
  public String map(String row) {
    return row;
  }

  @Override
  public void initializeState(FunctionInitializationContext context) {
    context
        .getRestoredCheckpointId()
        .ifPresent(checkpoint -> report().restored.put(attempt(), checkpoint));
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) {}

  @Override
  public void notifyCheckpointComplete(long checkpoint) {
    if (attempt() >= crashes) {
      return;
    }
    if (Files.exists(Path.of(directory, "export", "latest"))) {
      report().exported.add(attempt());
    }
    report().crashed.putIfAbsent(attempt(), checkpoint);
    if (attempt() == crashes - 1) {
      hold.release();
    }
    throw new AssertionError("This crash is part of the test.");
  }
}
