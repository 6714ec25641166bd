package org.draftmill.box;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaArgumentsTest {
  @TempDir Path dir;

  private Layout layout;
  private FlinkHome home;
  private final Configuration flink = new Configuration();

  @BeforeEach
  void given() throws Exception {
    layout = new Layout(dir.resolve("a \"quoted\" folder"));
    Files.createDirectories(layout.run());
    home = new FlinkHome(dir);
    Files.createDirectories(home.lib());
    Files.createFile(home.lib().resolve("flink.jar"));
    flink.set(TaskManagerOptions.TOTAL_PROCESS_MEMORY, MemorySize.parse("2g"));
    flink.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ZERO);
    flink.set(CoreOptions.FLINK_JVM_OPTIONS, "-Dall=1  -Dmore=2 ");
  }

  @Test
  void aTaskManagerIsSizedByFlinkAndNamed() throws Exception {
    List<String> lines = written(JavaArguments.ofTaskManager(layout, flink, home, "taskmanager-2"));

    assertThat(lines)
        .contains("\"-Dall=1\"", "\"-Dmore=2\"", "\"" + Role.TASKMANAGER.mainClass() + "\"")
        .anyMatch(line -> line.startsWith("\"-Xmx"))
        .anyMatch(line -> line.startsWith("\"-XX:MaxDirectMemorySize="))
        .contains("\"taskmanager.resource-id=taskmanager-2\"")
        .anyMatch(line -> line.startsWith("\"taskmanager.memory.network.max="));
  }

  @Test
  void theFileIsQuotedAsJavaReadsIt() throws Exception {
    List<String> lines = written(JavaArguments.ofClient(layout, flink, home));

    assertThat(lines)
        .contains("\"-Dlog.file=" + dir + "/a \\\"quoted\\\" folder/log/client.log\"")
        .contains("\"" + dir + "/lib/flink.jar\"");
  }

  @Test
  void aFolderWithoutFlinkIsRefused() {
    assertThatThrownBy(() -> FlinkHome.of(dir.resolve("nothing")))
        .isInstanceOf(BoxException.class)
        .hasMessageContainingAll("There is no Flink in", "FLINK_HOME");
  }

  private List<String> written(JavaArguments arguments) throws Exception {
    Path file = layout.run().resolve("x.args");
    arguments.write(file);
    return Files.readAllLines(file);
  }
}
