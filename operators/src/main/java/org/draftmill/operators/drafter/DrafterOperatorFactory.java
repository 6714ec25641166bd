package org.draftmill.operators.drafter;

import java.io.Serializable;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.draftmill.operators.drafter.rendezvous.DrafterCoordinator;
import org.draftmill.serializers.Delivery;

/**
 * Makes the drafter: deliveries in, lines of the training log out. The stream of deliveries must be
 * partitioned by {@link Delivery#drafter()}, and the operator's parallelism be that of the
 * settings.
 */
public final class DrafterOperatorFactory extends AbstractStreamOperatorFactory<String>
    implements OneInputStreamOperatorFactory<Delivery, String>, CoordinatedOperatorFactory<String> {
  private static final long serialVersionUID = 1L;

  private final DrafterSettings settings;
  private final TrainerHook hook;

  public DrafterOperatorFactory(DrafterSettings settings) {
    this(settings, (trainer, rank, attempt) -> trainer);
  }

  /** With a test's hand on what is computed. */
  DrafterOperatorFactory(DrafterSettings settings, TrainerHook hook) {
    this.settings = settings;
    this.hook = hook;
  }

  /** Puts something around a drafter's training. */
  interface TrainerHook extends Serializable {
    Trainer around(Trainer trainer, int rank, int attempt);
  }

  @Override
  public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID id) {
    return new DrafterCoordinator.Provider(id);
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T extends StreamOperator<String>> T createStreamOperator(
      StreamOperatorParameters<String> parameters) {
    return (T) new DrafterOperator(parameters, settings, hook);
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
    return DrafterOperator.class;
  }
}
