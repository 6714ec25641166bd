package org.draftmill.job.flinkconf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.draftmill.job.config.RunFile;
import org.draftmill.operators.drafter.DrafterOptions;
import org.draftmill.operators.pool.PoolOptions;
import org.draftmill.operators.target.TargetOptions;

/**
 * A configuration that is shipped, with the run that it is sized for.
 *
 * @param flink as Flink itself loads it
 * @param hosts with a TaskManager each
 */
record FlinkConf(String name, Configuration flink, Configuration run, int hosts) {
  /** Where the project's files lie, seen from a module's tests. */
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  static final Path FOLDER = ROOT.resolve("flink-conf");

  static List<FlinkConf> all(Path scratch) throws IOException {
    return List.of(
        load("config.yaml", ROOT.resolve("demo/run.yaml"), 1, scratch),
        load("config-gpu-host.yaml", FOLDER.resolve("run-gpu-host.yaml"), 1, scratch),
        load(
            "config-cluster.yaml",
            FOLDER.resolve("run-cluster.yaml"),
            Files.readAllLines(FOLDER.resolve("workers")).size(),
            scratch));
  }

  private static FlinkConf load(String name, Path run, int hosts, Path scratch) throws IOException {
    return new FlinkConf(
        name, load(FOLDER.resolve(name), scratch), RunFile.read(run, List.of()), hosts);
  }

  /** Flink loads a folder with a file of the one name that it knows. */
  static Configuration load(Path file, Path scratch) throws IOException {
    Path folder = Files.createDirectories(scratch.resolve(file.getFileName()));
    Files.copy(file, folder.resolve(GlobalConfiguration.FLINK_CONF_FILENAME));
    return GlobalConfiguration.loadConfiguration(folder.toString());
  }

  int targets() {
    return run.get(TargetOptions.PARALLELISM);
  }

  int pools() {
    return run.get(PoolOptions.PARALLELISM);
  }

  int drafters() {
    return run.get(DrafterOptions.PARALLELISM);
  }

  @Override
  public String toString() {
    return name;
  }
}
