package org.draftmill.compute.drafter;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Drafters in one process that meet at a barrier; what is left undefined is spoiled. */
final class TestingCollective implements Collective {
  private final int rank;
  private final Object[] arrays;
  private final CyclicBarrier barrier;

  private TestingCollective(int rank, Object[] arrays, CyclicBarrier barrier) {
    this.rank = rank;
    this.arrays = arrays;
    this.barrier = barrier;
  }

  static List<Collective> group(int size) {
    Object[] arrays = new Object[size];
    CyclicBarrier barrier = new CyclicBarrier(size);
    List<Collective> group = new ArrayList<>();
    for (int rank = 0; rank < size; rank++) {
      group.add(new TestingCollective(rank, arrays, barrier));
    }
    return group;
  }

  /** Runs one task a member, each on a thread of its own, and gives their results. */
  static <T> List<T> together(List<? extends Callable<T>> tasks) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
    try {
      List<Future<T>> futures = new ArrayList<>();
      for (Callable<T> task : tasks) {
        futures.add(threads.submit(task));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get(10, TimeUnit.MINUTES));
      }
      return results;
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      threads.shutdownNow();
    }
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return arrays.length;
  }

  @Override
  public void allReduce(long[] values) throws IOException {
    Object[] all = exchange(values.clone());
    for (int i = 0; i < values.length; i++) {
      values[i] = 0;
      for (Object other : all) {
        values[i] += ((long[]) other)[i];
      }
    }
  }

  @Override
  public void reduceScatter(long[] values, int[] bounds) throws IOException {
    Object[] all = exchange(values.clone());
    for (int i = 0; i < values.length; i++) {
      values[i] = 0x5EED;
      if (i >= bounds[rank] && i < bounds[rank + 1]) {
        values[i] = 0;
        for (Object other : all) {
          values[i] += ((long[]) other)[i];
        }
      }
    }
  }

  @Override
  public void allGather(float[] values, int[] bounds) throws IOException {
    Object[] all = exchange(values.clone());
    for (int r = 0; r < all.length; r++) {
      System.arraycopy(all[r], bounds[r], values, bounds[r], bounds[r + 1] - bounds[r]);
    }
  }

  @Override
  public void allGather(double[] values, int[] bounds) throws IOException {
    Object[] all = exchange(values.clone());
    for (int r = 0; r < all.length; r++) {
      System.arraycopy(all[r], bounds[r], values, bounds[r], bounds[r + 1] - bounds[r]);
    }
  }

  private Object[] exchange(Object mine) throws IOException {
    arrays[rank] = mine;
    await();
    Object[] all = arrays.clone();
    await();
    return all;
  }

  private void await() throws IOException {
    try {
      barrier.await(10, TimeUnit.MINUTES);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IOException("a member is missing", e);
    }
  }

  @Override
  public void close() {}
}
