package org.draftmill.operators.target;

import java.time.Duration;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.operators.start.StartClock;
import org.draftmill.serializers.HiddenStateChunk;

/**
 * Makes the targets. To be chained to the {@link org.draftmill.operators.jobs.JobSource}, whose
 * readers ask for a job when the target has room; {@link DeadLetter#OUTPUT} is its side output.
 */
public final class TargetOperatorFactory extends AbstractStreamOperatorFactory<HiddenStateChunk>
    implements OneInputStreamOperatorFactory<ExtractionJob, HiddenStateChunk> {
  private static final long serialVersionUID = 1L;

  /** Accumulator of the job: seconds in which its targets were at work, of the last attempt. */
  public static final String BUSY_SECONDS = "target.busySeconds";

  /** Accumulator of a job: tokens that all targets have extracted; set when their input ends. */
  public static final String TOKENS = "target.tokens";

  private final TargetSettings settings;
  private final HiddenStateExtractor.Factory extractor;
  private Duration startTimeout = StartClock.TIMEOUT.defaultValue();

  public TargetOperatorFactory(TargetSettings settings) {
    this(settings, ModelExtractor::open);
  }

  TargetOperatorFactory(TargetSettings settings, HiddenStateExtractor.Factory extractor) {
    this.settings = settings;
    this.extractor = extractor;
  }

  /** The longest that a target may take to get ready. */
  public TargetOperatorFactory startWithin(Duration timeout) {
    startTimeout = timeout;
    return this;
  }

  @Override
  public <T extends StreamOperator<HiddenStateChunk>> T createStreamOperator(
      StreamOperatorParameters<HiddenStateChunk> parameters) {
    @SuppressWarnings("unchecked")
    T operator = (T) new TargetOperator(parameters, settings, extractor, startTimeout);
    return operator;
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
    return TargetOperator.class;
  }
}
