package org.draftmill.job.chaos;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What this process and a run directory hold at a moment.
 *
 * @param heapMegabytes in use after a collection
 * @param directMegabytes of direct buffers, Flink's network memory included
 * @param descriptors files and sockets that are open
 * @param stateFiles below {@code drafter/} and {@code checkpoints/}
 */
record Vitals(
    double minute,
    double heapMegabytes,
    double directMegabytes,
    double mappedMegabytes,
    long descriptors,
    long threads,
    long classes,
    long stateFiles) {
  private static final double MEGABYTE = 1 << 20;

  static Vitals now(double minute, Path run) {
    System.gc();
    return new Vitals(
        minute,
        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MEGABYTE,
        buffers("direct"),
        buffers("mapped"),
        ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getOpenFileDescriptorCount(),
        ManagementFactory.getThreadMXBean().getThreadCount(),
        ManagementFactory.getClassLoadingMXBean().getLoadedClassCount(),
        files(run.resolve("drafter")) + files(run.resolve("checkpoints")));
  }

  private static double buffers(String pool) {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(bean -> bean.getName().equals(pool))
        .mapToDouble(bean -> bean.getMemoryUsed() / MEGABYTE)
        .sum();
  }

  /** Files come and go while they are counted. */
  private static long files(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).count();
    } catch (NoSuchFileException e) {
      return 0;
    } catch (UncheckedIOException e) {
      return files(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static String header() {
    return "| minute | heap MB | direct MB | mapped MB | files open | threads | classes | states |\n"
        + "| --- | --- | --- | --- | --- | --- | --- | --- |";
  }

  @Override
  public String toString() {
    return "| %.1f | %.1f | %.1f | %.1f | %d | %d | %d | %d |"
        .formatted(
            minute,
            heapMegabytes,
            directMegabytes,
            mappedMegabytes,
            descriptors,
            threads,
            classes,
            stateFiles);
  }
}
