package org.draftmill.operators.pool;

import java.time.Duration;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.draftmill.operators.start.StartClock;
import org.draftmill.serializers.Delivery;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * The pool. Its input is keyed by {@link ShardKeys}, its parallelism {@link
 * PoolSettings#parallelism}, its maximum parallelism {@link ShardKeys#MAX_PARALLELISM}; each
 * delivery goes to the subtask that {@link Delivery#drafter} says.
 */
public final class PoolOperatorFactory extends AbstractStreamOperatorFactory<Delivery>
    implements OneInputStreamOperatorFactory<HiddenStateChunk, Delivery>,
        CoordinatedOperatorFactory<Delivery> {
  private static final long serialVersionUID = 1L;

  /**
   * Accumulator of the job: seconds in which the pool, of the last attempt, had too little to mix.
   */
  public static final String MIN_READY_STALL_SECONDS = "pool.minReadyStallSeconds";

  private final PoolSettings settings;
  private Duration startTimeout = StartClock.TIMEOUT.defaultValue();

  public PoolOperatorFactory(PoolSettings settings) {
    this.settings = settings;
  }

  /** The longest that a subtask may take to get ready. */
  public PoolOperatorFactory startWithin(Duration timeout) {
    startTimeout = timeout;
    return this;
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T extends StreamOperator<Delivery>> T createStreamOperator(
      StreamOperatorParameters<Delivery> parameters) {
    return (T) new PoolOperator(parameters, settings, startTimeout);
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
    return PoolOperator.class;
  }

  @Override
  public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID operatorId) {
    return new CoordinatorProvider(operatorId);
  }

  private record CoordinatorProvider(OperatorID getOperatorId)
      implements OperatorCoordinator.Provider {
    @Override
    public OperatorCoordinator create(OperatorCoordinator.Context context) {
      return new PoolCoordinator(context);
    }
  }
}
