package org.draftmill.job.config;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.InputException;

/** Which options of a run are not those that its {@code run.yaml} holds from the last time. */
public final class ChangedOptions {
  /** They say where, not what. */
  private static final Set<String> NO_MATTER = Set.of("run.dir", "run.web-port");

  private ChangedOptions() {}

  /** Left to the run, which writes down what it chose. */
  private static boolean chosen(ConfigOption<?> option, Configuration now) {
    return option.equals(RunOptions.PRODUCTS)
        && now.get(RunOptions.PRODUCTS) == RunOptions.PRODUCTS.defaultValue();
  }

  /**
   * @param runFile as a run left it; if it is not there or of another version, nothing is known
   * @param given paths may be relative to where the process works
   * @return {@code drafter.anchors was 512 and is 256}, one for each
   */
  public static List<String> since(Path runFile, Configuration given) {
    List<String> changed = new ArrayList<>();
    if (!Files.exists(runFile)) {
      return changed;
    }
    Configuration before;
    try {
      before = AbsolutePaths.in(RunFile.read(runFile, List.of()));
    } catch (InputException e) {
      return changed;
    }
    Configuration now = AbsolutePaths.in(given);
    for (ConfigOption<?> option : KnownOptions.byKey().values()) {
      Object was = ResolvedRunFile.plain(before.get(option));
      Object is = ResolvedRunFile.plain(now.get(option));
      if (!NO_MATTER.contains(option.key()) && !Objects.equals(was, is) && !chosen(option, now)) {
        changed.add("%s was %s and is %s".formatted(option.key(), was, is));
      }
    }
    return changed;
  }
}
