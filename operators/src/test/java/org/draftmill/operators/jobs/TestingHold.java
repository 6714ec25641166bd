package org.draftmill.operators.jobs;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Makes a source rest at a place of its list until a test lets it go on. Its readers then have
 * nothing to give, as if they waited for a file: barriers pass, and however slow the machine is,
 * the list does not end before what the test waits for.
 */
public final class TestingHold implements Serializable {
  private static final long serialVersionUID = 1L;

  private static final Map<UUID, State> STATES = new ConcurrentHashMap<>();

  private record State(CompletableFuture<Void> reached, CompletableFuture<Void> released) {}

  /** The place of a record in the list. */
  public interface Place<T> extends Serializable {
    long of(T emitted);
  }

  private final UUID id = UUID.randomUUID();
  private final long place;

  private TestingHold(long place) {
    this.place = place;
    STATES.put(id, new State(new CompletableFuture<>(), new CompletableFuture<>()));
  }

  /** Each reader rests when it has emitted a record of this place or of a later one. */
  public static TestingHold at(long place) {
    return new TestingHold(place);
  }

  /** Lets all readers go on, for good. */
  public void release() {
    STATES.get(id).released().complete(null);
  }

  public boolean isReleased() {
    return STATES.get(id).released().isDone();
  }

  /** Whether a reader rests or has rested. */
  public boolean isReached() {
    return STATES.get(id).reached().isDone();
  }

  /** The source that rests. */
  public <T, S extends SourceSplit, E> Source<T, S, E> on(Source<T, S, E> source, Place<T> places) {
    return new Held<>(source, places, this);
  }

  private record Held<T, S extends SourceSplit, E>(
      Source<T, S, E> source, Place<T> places, TestingHold hold) implements Source<T, S, E> {
    @Override
    public Boundedness getBoundedness() {
      return source.getBoundedness();
    }

    @Override
    public SourceReader<T, S> createReader(SourceReaderContext context) throws Exception {
      return new Reader<>(source.createReader(context), places, hold);
    }

    @Override
    public SplitEnumerator<S, E> createEnumerator(SplitEnumeratorContext<S> context)
        throws Exception {
      return source.createEnumerator(context);
    }

    @Override
    public SplitEnumerator<S, E> restoreEnumerator(SplitEnumeratorContext<S> context, E state)
        throws Exception {
      return source.restoreEnumerator(context, state);
    }

    @Override
    public SimpleVersionedSerializer<S> getSplitSerializer() {
      return source.getSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<E> getEnumeratorCheckpointSerializer() {
      return source.getEnumeratorCheckpointSerializer();
    }
  }

  @SuppressWarnings("try") // a reader may be interrupted when it is closed
  private static final class Reader<T, S extends SourceSplit> implements SourceReader<T, S> {
    private final SourceReader<T, S> reader;
    private final Place<T> places;
    private final TestingHold hold;
    private long last = -1; // place of the record that was emitted last

    Reader(SourceReader<T, S> reader, Place<T> places, TestingHold hold) {
      this.reader = reader;
      this.places = places;
      this.hold = hold;
    }

    private boolean rests() {
      if (last < hold.place || hold.isReleased()) {
        return false;
      }
      STATES.get(hold.id).reached().complete(null);
      return true;
    }

    @Override
    public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
      return rests() ? InputStatus.NOTHING_AVAILABLE : reader.pollNext(new Noting(output));
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
      return rests() ? STATES.get(hold.id).released().copy() : reader.isAvailable();
    }

    @Override
    public void start() {
      reader.start();
    }

    @Override
    public List<S> snapshotState(long checkpoint) {
      return reader.snapshotState(checkpoint);
    }

    @Override
    public void addSplits(List<S> splits) {
      reader.addSplits(splits);
    }

    @Override
    public void notifyNoMoreSplits() {
      reader.notifyNoMoreSplits();
    }

    @Override
    public void handleSourceEvents(SourceEvent event) {
      reader.handleSourceEvents(event);
    }

    @Override
    public void close() throws Exception {
      reader.close();
    }

    /** Notes the place of what passes. */
    private final class Noting implements ReaderOutput<T> {
      private final ReaderOutput<T> output;

      Noting(ReaderOutput<T> output) {
        this.output = output;
      }

      @Override
      public void collect(T emitted) {
        output.collect(emitted);
        last = places.of(emitted);
      }

      @Override
      public void collect(T emitted, long timestamp) {
        output.collect(emitted, timestamp);
        last = places.of(emitted);
      }

      @Override
      public void emitWatermark(Watermark watermark) {
        output.emitWatermark(watermark);
      }

      @Override
      public void markIdle() {
        output.markIdle();
      }

      @Override
      public void markActive() {
        output.markActive();
      }

      @Override
      public SourceOutput<T> createOutputForSplit(String split) {
        return output.createOutputForSplit(split);
      }

      @Override
      public void releaseOutputForSplit(String split) {
        output.releaseOutputForSplit(split);
      }
    }
  }
}
