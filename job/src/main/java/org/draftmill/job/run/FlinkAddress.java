package org.draftmill.job.run;

import java.nio.file.Path;

/**
 * Places on a file system of this host as Flink's options and calls take them: {@code file:} and
 * the path as it is. An address of {@link Path#toUri} would do only while nothing in it is escaped,
 * for Flink takes {@code %20} for three letters.
 */
public final class FlinkAddress {
  private FlinkAddress() {}

  /** How Flink names a path. */
  public static String of(Path path) {
    return new org.apache.flink.core.fs.Path(path.toUri()).toString();
  }

  /** The path that Flink names so, which must be one of this host. */
  public static Path path(String address) {
    return Path.of(new org.apache.flink.core.fs.Path(address).getPath());
  }
}
