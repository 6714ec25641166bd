package org.draftmill.compute.cuda;

import static org.draftmill.compute.cuda.CudaFailure.check;

import jcuda.driver.CUevent;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * A stream whose work is numbered, so that another stream can wait for what it needs and no more.
 * An event is recorded every few pieces of work; who waits takes the first event behind its number.
 */
final class WorkStream implements CudaBackend.Part {
  private static final int EVENTS = 64;
  private static final int SPACING = 16; // pieces of work from one event to the next

  private final CudaContext context;
  private final String name;
  private final CUstream stream;
  private final CUevent[] events = new CUevent[EVENTS];
  private final long[] marks = new long[EVENTS]; // the number of the last work before each event
  private int newest;
  private long work;

  WorkStream(CudaContext context, String name) {
    this.context = context;
    this.name = name;
    this.stream = context.stream();
  }

  CUstream handle() {
    return stream;
  }

  /** Notes one more piece of work that was put on the stream, and returns its number. */
  synchronized long note() {
    if (++work - marks[newest] >= SPACING) {
      record();
    }
    return work;
  }

  private void record() {
    newest = (newest + 1) % EVENTS;
    if (events[newest] == null) {
      events[newest] = context.event();
    }
    mark(events[newest]);
    marks[newest] = work;
  }

  /** Lets {@code other} go on when the work of this number is done. */
  synchronized void letWait(WorkStream other, long number) {
    if (number == 0) {
      return;
    }
    if (marks[newest] < number) {
      record();
    }
    int at = newest;
    for (int i = 1; i < EVENTS; i++) {
      int earlier = Math.floorMod(newest - i, EVENTS);
      if (events[earlier] == null || marks[earlier] < number) {
        break;
      }
      at = earlier;
    }
    check(
        JCudaDriver.cuStreamWaitEvent(other.stream, events[at], 0),
        "letting the stream " + other.name + " wait for " + name);
  }

  /** Lets {@code event} happen when the work that was put on the stream so far is done. */
  void mark(CUevent event) {
    check(JCudaDriver.cuEventRecord(event, stream), "marking the stream " + name);
  }

  /** Waits until all work is done. */
  void await() {
    context.use();
    check(JCudaDriver.cuStreamSynchronize(stream), "waiting for the stream " + name);
  }

  @Override
  public void close() {
    for (CUevent event : events) {
      if (event != null) {
        JCudaDriver.cuEventDestroy(event);
      }
    }
    JCudaDriver.cuStreamDestroy(stream);
  }

  @Override
  public String toString() {
    return name;
  }
}
