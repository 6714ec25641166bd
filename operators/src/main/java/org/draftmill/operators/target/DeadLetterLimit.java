package org.draftmill.operators.target;

import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;

/**
 * Counts the dead letters of all targets and fails the run, without a restart, when there are more
 * than allowed. To be run with parallelism 1.
 */
public final class DeadLetterLimit extends RichMapFunction<DeadLetter, DeadLetter>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;
  private static final ListStateDescriptor<Long> COUNT =
      new ListStateDescriptor<>("dead-letters", Types.LONG);

  private final long most;
  private long found;
  private transient ListState<Long> state;

  /**
   * @param most dead letters that a run may have, {@code target.max-dead-letters}
   */
  public DeadLetterLimit(long most) {
    this.most = most;
  }

  @Override
  public DeadLetter map(DeadLetter letter) {
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
    return letter;
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
