package org.draftmill.operators.target;

import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.draftmill.operators.jobs.ExtractionJob;

/**
 * What the threads of a pipeline work on, since when, and how long in all: for the metrics, and to
 * find one that hangs. Thread-safe.
 */
final class PipelineActivity {
  private static final double NANOS = 1e9;

  /** The parts of the way of a job, each on a thread of its own. */
  enum Part {
    PREPARE("preparing"),
    FORWARD("the forward pass"),
    PACK("packing");

    private final String label;

    Part(String label) {
      this.label = label;
    }

    /** As messages call it. */
    String label() {
      return label;
    }
  }

  /** Work that has begun and not ended. */
  record Running(Part part, ExtractionJob job, long nanos) {}

  private record Begun(ExtractionJob job, long at) {}

  /** Is told, one call at a time, when somebody begins to work and when nobody does any more. */
  @FunctionalInterface
  interface Listener {
    void working(boolean now);
  }

  private final LongSupplier nanoClock;
  private final Listener listener;
  private final Map<Part, Begun> running = new EnumMap<>(Part.class);
  private final long[] nanos = new long[Part.values().length]; // of work that has ended
  private long busyNanos;
  private long busySince;

  PipelineActivity(LongSupplier nanoClock, Listener listener) {
    this.nanoClock = nanoClock;
    this.listener = listener;
  }

  synchronized void begin(Part part, ExtractionJob job) {
    long now = nanoClock.getAsLong();
    boolean first = running.isEmpty();
    running.put(part, new Begun(job, now));
    if (first) {
      busySince = now;
      listener.working(true);
    }
  }

  synchronized void end(Part part) {
    long now = nanoClock.getAsLong();
    nanos[part.ordinal()] += now - running.remove(part).at();
    if (running.isEmpty()) {
      busyNanos += now - busySince;
      listener.working(false);
    }
  }

  /** Time that a part has worked, work at hand included. */
  synchronized double seconds(Part part) {
    Begun begun = running.get(part);
    long current = begun == null ? 0 : nanoClock.getAsLong() - begun.at();
    return (nanos[part.ordinal()] + current) / NANOS;
  }

  /** Time that any part has worked. */
  synchronized double busySeconds() {
    long current = running.isEmpty() ? 0 : nanoClock.getAsLong() - busySince;
    return (busyNanos + current) / NANOS;
  }

  /** The work at hand that began first. */
  synchronized Optional<Running> longest() {
    long now = nanoClock.getAsLong();
    Running longest = null;
    for (Map.Entry<Part, Begun> entry : running.entrySet()) {
      long lasts = now - entry.getValue().at();
      if (longest == null || lasts > longest.nanos()) {
        longest = new Running(entry.getKey(), entry.getValue().job(), lasts);
      }
    }
    return Optional.ofNullable(longest);
  }
}
