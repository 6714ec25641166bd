package org.draftmill.box;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.TaskManagerOptionsInternal;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessSpec;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.flink.runtime.util.config.memory.ProcessMemoryUtils;

/**
 * The arguments of a JVM, as the file that {@code java @FILE} reads: what Flink's own start scripts
 * would give, with memory sized by Flink's own arithmetic.
 */
final class JavaArguments {
  /** By this a process is known to belong to a box, whatever the operating system reuses. */
  private static final String MARK = "-Ddraftmill.box=";

  private final Layout layout;
  private final Configuration flink;
  private final List<String> arguments = new ArrayList<>();

  private JavaArguments(Layout layout, Configuration flink) {
    this.layout = layout;
    this.flink = flink;
  }

  static String mark(Layout layout) {
    return MARK + layout.root();
  }

  static JavaArguments ofJobManager(
      Layout layout, Configuration flink, FlinkHome home, String member, boolean standby) {
    JobManagerProcessSpec memory = JobManagerProcessUtils.processSpecFromConfig(flink);
    JavaArguments java = new JavaArguments(layout, flink);
    java.words(JobManagerProcessUtils.generateJvmParametersStr(memory, flink));
    java.options(CoreOptions.FLINK_DEFAULT_JM_JVM_OPTIONS, CoreOptions.FLINK_JM_JVM_OPTIONS);
    java.process(home, Role.JOBMANAGER, member);
    java.add("--configDir", layout.conf().toString(), "--executionMode", "cluster");
    java.words(JobManagerProcessUtils.generateDynamicConfigsStr(memory));
    if (standby) {
      java.add("-D", RestOptions.BIND_PORT.key() + "=0");
    }
    return java;
  }

  static JavaArguments ofTaskManager(
      Layout layout, Configuration flink, FlinkHome home, String member) {
    TaskExecutorProcessSpec memory = TaskExecutorProcessUtils.processSpecFromConfig(flink);
    JavaArguments java = new JavaArguments(layout, flink);
    java.words(ProcessMemoryUtils.generateJvmParametersStr(memory));
    java.options(CoreOptions.FLINK_DEFAULT_TM_JVM_OPTIONS, CoreOptions.FLINK_TM_JVM_OPTIONS);
    java.process(home, Role.TASKMANAGER, member);
    java.add("--configDir", layout.conf().toString());
    java.words(TaskExecutorProcessUtils.generateDynamicConfigsStr(memory));
    java.add("-D", TaskManagerOptions.TASK_MANAGER_RESOURCE_ID.key() + "=" + member);
    java.add(
        "-D", TaskManagerOptionsInternal.TASK_MANAGER_RESOURCE_ID_METADATA.key() + "=" + member);
    return java;
  }

  static JavaArguments ofZooKeeper(
      Layout layout, Configuration flink, FlinkHome home, String member) throws IOException {
    JavaArguments java = new JavaArguments(layout, flink);
    java.add("-Xmx128m", "-XX:+UseSerialGC");
    java.process(home, Role.ZOOKEEPER, member);
    java.add("--zkConfigFile", ZooKeeper.writeConfig(layout, flink).toString(), "--peerId", "1");
    return java;
  }

  /** Flink's command line; its own arguments follow. */
  static JavaArguments ofClient(Layout layout, Configuration flink, FlinkHome home) {
    JavaArguments java = new JavaArguments(layout, flink);
    java.options(CoreOptions.FLINK_CLI_JVM_OPTIONS);
    java.logging("client", "log4j-cli.properties");
    java.add("-cp", home.classPath(), "org.apache.flink.client.cli.CliFrontend");
    return java;
  }

  private void process(FlinkHome home, Role role, String member) {
    logging(member, "log4j.properties");
    add(mark(layout), "-cp", home.classPath(), role.mainClass());
  }

  private void logging(String member, String config) {
    add("-Dlog.file=" + layout.logFile(member));
    add("-Dlog4j.configurationFile=" + layout.conf().resolve(config).toUri());
    add("-XX:ErrorFile=" + layout.log().resolve(member + ".crash"));
  }

  /** Options of all of Flink's JVMs, then those of one kind. */
  @SafeVarargs
  private void options(ConfigOption<String>... ofKind) {
    words(flink.get(CoreOptions.FLINK_DEFAULT_JVM_OPTIONS));
    words(flink.get(CoreOptions.FLINK_JVM_OPTIONS));
    for (ConfigOption<String> option : ofKind) {
      words(flink.get(option));
    }
  }

  private void words(String words) {
    Arrays.stream(words.strip().split("\\s+")).filter(word -> !word.isEmpty()).forEach(this::add);
  }

  private void add(String... more) {
    arguments.addAll(List.of(more));
  }

  void write(Path file) throws IOException {
    Files.write(file, arguments.stream().map(JavaArguments::quoted).toList());
  }

  private static String quoted(String argument) {
    return '"' + argument.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
