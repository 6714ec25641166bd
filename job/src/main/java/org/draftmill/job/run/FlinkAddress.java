package org.draftmill.job.run;

import java.nio.file.Path;

/**
 * Places on a file system of this host as Flink's options and calls take them: {@code file:} and
 * the path as it is. An address of {@link Path#toUri} would do only while nothing in it is escaped,
 * for Flink takes {@code %20} for three letters.
 */
public final class FlinkAddress {
  private FlinkAddress() {}

  /** How Flink names a path, whether it is there or not. */
  public static String of(Path path) {
    String address = new org.apache.flink.core.fs.Path(path.toUri()).toString();
    // Taken as a string it loses the slash at the end, which a directory has once it is there.
    return new org.apache.flink.core.fs.Path(address).toString();
  }

  /** The path that Flink names so, which must be one of this host. */
  public static Path path(String address) {
    return Path.of(new org.apache.flink.core.fs.Path(address).getPath());
  }
}
