package org.draftmill.job.train;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.Poller;
import org.draftmill.job.embedded.RestMetrics;

/**
 * Shows how a run gets on, from the rows that the drafter appends to {@code log/live.csv} and from
 * Flink's metrics, on a thread of its own until it is closed. Trouble with it is logged and harms
 * nothing.
 */
final class ProgressMonitor implements AutoCloseable {
  private static final int POLLS_PER_METRICS = 4;
  private static final long PLAIN_LINE_NANOS = Duration.ofSeconds(10).toNanos();

  /** Rows over which loss and pace are averaged. */
  private static final int RECENT_ROWS = 20;

  private final Console console;
  private final LiveLogReader liveLog;
  private final RestMetrics metrics;
  private final BalanceWatch balance;
  private final long steps;
  private final Deque<Map<String, Double>> recent = new ArrayDeque<>();
  private final Poller poller;
  private int polls;
  private double poolReady = Double.NaN;
  private long done;
  private long lastLineNanos = System.nanoTime();

  /**
   * @param steps of the whole run
   * @param done steps that were done before, when a run goes on
   */
  ProgressMonitor(
      Console console,
      LiveLogReader liveLog,
      RestMetrics metrics,
      BalanceWatch balance,
      long steps,
      long done) {
    this.console = console;
    this.liveLog = liveLog;
    this.metrics = metrics;
    this.balance = balance;
    this.steps = steps;
    this.done = done;
    poller = new Poller("draftmill-progress", this::poll);
  }

  private void poll() throws IOException, InterruptedException {
    takeRows();
    if (polls++ % POLLS_PER_METRICS == 0) {
      takeMetrics();
    }
    ProgressLine.State state = state();
    if (console.isTerminal()) {
      console.live(ProgressLine.bar(state));
    } else if (System.nanoTime() - lastLineNanos >= PLAIN_LINE_NANOS) {
      lastLineNanos = System.nanoTime();
      console.say(ProgressLine.plain(state));
    }
  }

  private void takeMetrics() throws IOException, InterruptedException {
    Map<String, Double> sums =
        metrics.sums(
            List.of(RestMetrics.POOL_READY, RestMetrics.TARGET_TOKENS, RestMetrics.TARGET_BUSY));
    synchronized (this) {
      poolReady = sums.getOrDefault(RestMetrics.POOL_READY, Double.NaN);
    }
    if (sums.containsKey(RestMetrics.TARGET_TOKENS) && sums.containsKey(RestMetrics.TARGET_BUSY)) {
      balance.targets(sums.get(RestMetrics.TARGET_TOKENS), sums.get(RestMetrics.TARGET_BUSY));
    }
  }

  private synchronized void takeRows() throws IOException {
    List<Map<String, Double>> rows = liveLog.poll();
    balance.stepped(rows.size());
    for (Map<String, Double> row : rows) {
      done = row.getOrDefault("step", -1.0).longValue() + 1;
      recent.addLast(row);
      if (recent.size() > RECENT_ROWS) {
        recent.removeFirst();
      }
    }
  }

  private synchronized ProgressLine.State state() {
    double seconds = sum("seconds");
    boolean paced = recent.size() > 1 && seconds > 0;
    return new ProgressLine.State(
        done,
        steps,
        mean("loss"),
        mean("joint_prefix"),
        paced ? sum("tokens") / seconds : Double.NaN,
        poolReady,
        paced ? Duration.ofMillis((long) (1000 * (steps - done) * seconds / recent.size())) : null);
  }

  private double sum(String column) {
    return recent.stream().mapToDouble(row -> row.getOrDefault(column, 0.0)).sum();
  }

  private double mean(String column) {
    return recent.stream()
        .filter(row -> row.containsKey(column))
        .mapToDouble(row -> row.get(column))
        .average()
        .orElse(Double.NaN);
  }

  /** Takes the line away. */
  @Override
  public void close() {
    poller.close();
    console.live("");
  }
}
