package org.draftmill.job.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlinkAddressTest {
  @ParameterizedTest
  @ValueSource(strings = {"run", "my run", "run-%20", "a#b?c", "50%"})
  void flinkFindsThePlace(String name) {
    Path path = Path.of(name).toAbsolutePath();

    String address = FlinkAddress.of(path);

    // As Flink reads an option.
    assertThat(new org.apache.flink.core.fs.Path(address).getPath()).isEqualTo(path.toString());
    assertThat(FlinkAddress.path(address)).isEqualTo(path);
  }

  @Test
  void aDirectoryKeepsItsNameOnceItIsThere(@TempDir Path dir) throws Exception {
    Path path = dir.resolve("my run");
    String before = FlinkAddress.of(path);

    Files.createDirectory(path);

    assertThat(FlinkAddress.of(path)).isEqualTo(before);
  }
}
