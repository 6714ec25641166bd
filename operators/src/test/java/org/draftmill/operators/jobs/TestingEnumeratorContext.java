package org.draftmill.operators.jobs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;
import org.apache.flink.metrics.testutils.MetricListener;
import org.apache.flink.runtime.metrics.groups.InternalSplitEnumeratorMetricGroup;

/** Keeps what an enumerator does; asynchronous calls wait until the test runs them. */
final class TestingEnumeratorContext implements SplitEnumeratorContext<ExtractionJob> {
  final Map<Integer, List<Long>> assigned = new TreeMap<>(); // positions by reader
  final List<Long> order = new ArrayList<>(); // positions as handed out
  final List<ExtractionJob> jobs = new ArrayList<>();
  final List<Integer> finished = new ArrayList<>();
  final MetricListener metrics = new MetricListener();
  private final Map<Integer, ReaderInfo> readers = new HashMap<>();
  private final Queue<Runnable> calls = new ArrayDeque<>();

  TestingEnumeratorContext(int parallelism) {
    for (int subtask = 0; subtask < parallelism; subtask++) {
      readers.put(subtask, new ReaderInfo(subtask, "localhost"));
    }
  }

  void leave(int subtask) {
    readers.remove(subtask);
  }

  /** Runs asynchronous calls until none is left. */
  void runCalls() {
    while (!calls.isEmpty()) {
      calls.remove().run();
    }
  }

  @Override
  public <T> void callAsync(Callable<T> callable, BiConsumer<T, Throwable> handler) {
    calls.add(
        () -> {
          T result;
          try {
            result = callable.call();
          } catch (Exception e) {
            handler.accept(null, e);
            return;
          }
          handler.accept(result, null);
        });
  }

  @Override
  public <T> void callAsync(
      Callable<T> callable, BiConsumer<T, Throwable> handler, long delay, long period) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void assignSplits(SplitsAssignment<ExtractionJob> assignment) {
    assignment.assignment().forEach((subtask, splits) -> splits.forEach(s -> assign(s, subtask)));
  }

  private void assign(ExtractionJob job, int subtask) {
    jobs.add(job);
    order.add(job.position());
    assigned.computeIfAbsent(subtask, s -> new ArrayList<>()).add(job.position());
  }

  @Override
  public void signalNoMoreSplits(int subtask) {
    finished.add(subtask);
  }

  @Override
  public Map<Integer, ReaderInfo> registeredReaders() {
    return readers;
  }

  @Override
  public int currentParallelism() {
    return readers.size();
  }

  @Override
  public SplitEnumeratorMetricGroup metricGroup() {
    return new InternalSplitEnumeratorMetricGroup(metrics.getMetricGroup());
  }

  @Override
  public void sendEventToSourceReader(int subtask, SourceEvent event) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void runInCoordinatorThread(Runnable runnable) {
    runnable.run();
  }
}
