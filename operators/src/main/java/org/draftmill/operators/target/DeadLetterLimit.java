package org.draftmill.operators.target;

import java.nio.file.Path;
import java.util.Set;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.util.Collector;

/**
 * Counts the dead letters of all targets and fails the run, without a restart, when there are more
 * than allowed. To be run with parallelism 1.
 *
 * <p>A letter that stands in the files already is counted and not passed on: a run that went on
 * from a state before the newest one, which was damaged, tries its job once more.
 */
public final class DeadLetterLimit extends RichFlatMapFunction<DeadLetter, DeadLetter>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;
  private static final ListStateDescriptor<Long> COUNT =
      new ListStateDescriptor<>("dead-letters", Types.LONG);

  private final long most;
  private final String directory;
  private long found;
  private transient ListState<Long> state;
  private transient Set<Long> written; // positions

  /**
   * @param most dead letters that a run may have, {@code target.max-dead-letters}
   * @param directory where the letters' files lie
   */
  public DeadLetterLimit(long most, String directory) {
    this.most = most;
    this.directory = directory;
  }

  @Override
  public void open(OpenContext context) throws Exception {
    written = DeadLetter.positions(Path.of(directory));
  }

  @Override
  public void flatMap(DeadLetter letter, Collector<DeadLetter> out) {
    found++;
    if (found > most) {
      throw new SuppressRestartsException(
          new IllegalStateException(
              "%d jobs could not be extracted, more than the %d that %s allows. The last was job %d (epoch %d, index %d): %s"
                  .formatted(
                      found,
                      most,
                      TargetOptions.MAX_DEAD_LETTERS.key(),
                      letter.position(),
                      letter.epoch(),
                      letter.index(),
                      letter.reason())));
    }
    if (written.add(letter.position())) {
      out.collect(letter);
    }
  }

  @Override
  public void initializeState(FunctionInitializationContext context) throws Exception {
    state = context.getOperatorStateStore().getListState(COUNT);
    for (long count : state.get()) {
      found += count;
    }
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) throws Exception {
    state.clear();
    state.add(found);
  }
}
