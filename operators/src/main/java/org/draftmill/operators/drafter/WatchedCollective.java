package org.draftmill.operators.drafter;

import java.io.IOException;
import java.util.function.Consumer;
import org.draftmill.compute.drafter.Collective;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;

/**
 * Stops a drafter's clock while it waits for the others. It belongs to one step; closing it does
 * nothing.
 */
final class WatchedCollective implements Collective {
  private final Collective collective;
  private final Consumer<String> doing;
  private final String step;

  /**
   * @param doing told what the drafter is at: null while it waits
   */
  WatchedCollective(Collective collective, Consumer<String> doing, long step) {
    this.collective = collective;
    this.doing = doing;
    this.step = "step " + step;
  }

  @Override
  public int rank() {
    return collective.rank();
  }

  @Override
  public int size() {
    return collective.size();
  }

  @Override
  public void allReduce(long[] values) throws IOException {
    waiting(() -> collective.allReduce(values));
  }

  @Override
  public void reduceScatter(long[] values, int[] bounds) throws IOException {
    waiting(() -> collective.reduceScatter(values, bounds));
  }

  @Override
  public void allGather(float[] values, int[] bounds) throws IOException {
    waiting(() -> collective.allGather(values, bounds));
  }

  @Override
  public void allGather(double[] values, int[] bounds) throws IOException {
    waiting(() -> collective.allGather(values, bounds));
  }

  @Override
  public void reduceScatter(ExactSums sums, int[] bounds) throws IOException {
    waiting(() -> collective.reduceScatter(sums, bounds));
  }

  @Override
  public void allGather(Masters weights, int[] bounds) throws IOException {
    waiting(() -> collective.allGather(weights, bounds));
  }

  @Override
  public void close() {}

  private void waiting(Exchange exchange) throws IOException {
    doing.accept(null);
    exchange.run();
    doing.accept(step);
  }

  private interface Exchange {
    void run() throws IOException;
  }
}
