package org.draftmill.job.config;

import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.jobs.JobsOptions;
import org.draftmill.operators.target.TargetOptions;

/**
 * Paths as they were meant where a run was started: the processes of a cluster work in other
 * directories.
 */
public final class AbsolutePaths {
  private static final List<ConfigOption<String>> PATHS =
      List.of(
          RunOptions.DIR,
          TargetOptions.MODEL,
          JobsOptions.DATASET,
          JobsOptions.PLAN,
          DrafterOptions.INIT);

  private AbsolutePaths() {}

  /** The same options with every path absolute; what has a scheme ({@code s3://…}) stays. */
  public static Configuration in(Configuration options) {
    Configuration absolute = new Configuration(options);
    for (ConfigOption<String> option : PATHS) {
      options
          .getOptional(option)
          .filter(path -> !path.isBlank() && !path.contains("://"))
          .ifPresent(
              path -> absolute.set(option, Path.of(path).toAbsolutePath().normalize().toString()));
    }
    return absolute;
  }
}
