package org.draftmill.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Path;
import java.util.Random;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.plan.JobIterator;
import org.draftmill.corpus.plan.JobList;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.corpus.plan.PlanInput;
import org.draftmill.corpus.plan.PlanManifest;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;

/**
 * Plans one epoch of a number of sequences with the default options and reads from the plan, each
 * once: a plan is made in a cold JVM. Prints the figures for {@link ChildJvm}.
 */
final class PlanRun {
  private static final int SEEKS = 200;

  private PlanRun() {}

  /** {@code SEQUENCES}. */
  public static void main(String[] args) throws Exception {
    PlanInput input = Plans.input(Plans.chatLengths(Integer.parseInt(args[0]), 7));
    try (TemporaryFolder folder = TemporaryFolder.create()) {
      Path directory = folder.path().resolve("plan");
      long start = System.nanoTime();
      PlanManifest plan = PlanWriter.write(input, PlanOptions.withSeed(42), directory);
      print("plan_seconds", seconds(start));
      print("jobs", plan.jobs());
      print("list_megabytes", plan.epochs().get(0).bytes() / 1e6);
      print("heap_limit_megabytes", Runtime.getRuntime().maxMemory() / 1e6);
      print("heap_peak_megabytes", heapPeak() / 1e6);
      read(directory, plan.jobs());
    }
  }

  private static void read(Path directory, long jobs) throws Exception {
    Random random = new Random(1);
    long start = System.nanoTime();
    JobList list = Plan.read(ByteSources.directory(directory)).jobList(0);
    readOne(list, jobs - 1);
    print("open_and_seek_milliseconds", seconds(start) * 1e3);

    start = System.nanoTime();
    for (int i = 0; i < SEEKS; i++) {
      readOne(list, random.nextLong(jobs));
    }
    print("seek_milliseconds", seconds(start) * 1e3 / SEEKS);

    start = System.nanoTime();
    try (JobIterator all = list.iteratorFrom(0)) {
      while (all.hasNext()) {
        all.next();
      }
    }
    print("read_jobs_per_second", jobs / seconds(start));
  }

  private static void readOne(JobList list, long index) throws Exception {
    try (JobIterator at = list.iteratorFrom(index)) {
      if (at.next().index() != index) {
        throw new IllegalStateException("Job " + index + " is not at its place.");
      }
    }
  }

  private static long heapPeak() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .mapToLong(PlanRun::peak)
        .sum();
  }

  private static long peak(MemoryPoolMXBean pool) {
    return pool.getPeakUsage().getUsed();
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) * 1e-9;
  }

  private static void print(String name, double value) {
    System.out.println(name + " " + value);
  }
}
