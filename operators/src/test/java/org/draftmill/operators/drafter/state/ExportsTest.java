package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExportsTest {
  @TempDir Path run;

  private static Exports.Content content(String text) {
    return directory -> {
      Files.createDirectory(directory);
      Files.writeString(directory.resolve("config.json"), text);
    };
  }

  private List<String> names() throws IOException {
    try (Stream<Path> list = Files.list(run.resolve("export"))) {
      return list.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void latestLeadsToTheNewestAndOldOnesGo() throws Exception {
    Exports exports = new Exports(run, 2);
    for (long step : new long[] {10, 20, 30, 40}) {
      exports.publish(step, content("of " + step));
    }
    assertThat(names())
        .containsExactly("latest", "step-00000020", "step-00000030", "step-00000040");
    assertThat(run.resolve("export/latest/config.json")).hasContent("of 40");
    assertThat(Files.readSymbolicLink(run.resolve("export/latest")))
        .isEqualTo(Path.of("step-00000040"));
  }

  @Test
  void aStepThatIsThereIsNotWrittenAgain() throws Exception {
    Exports exports = new Exports(run, 5);
    exports.publish(10, content("first"));
    exports.publish(20, content("second"));
    exports.publish(
        10,
        directory -> {
          throw new IOException("must not be called");
        });
    assertThat(run.resolve("export/latest/config.json")).hasContent("first");
  }

  @Test
  void whatAnEarlierAttemptExportedIsReplacedWhileTheLinkAlwaysLeadsToAWholeExport()
      throws Exception {
    new Exports(run, 5).publish(10, content("of the attempt that died"));
    Path latest = run.resolve("export/latest/config.json");
    List<String> seen = new ArrayList<>();
    Exports exports = new Exports(run, 5);
    exports.publish(
        10,
        directory -> {
          seen.add(Files.readString(latest));
          content("new").write(directory);
        });
    assertThat(seen).isNotEmpty().containsOnly("of the attempt that died");
    assertThat(names()).containsExactly("latest", "step-00000010");
    assertThat(Files.readSymbolicLink(run.resolve("export/latest")))
        .isEqualTo(Path.of("step-00000010"));
    assertThat(latest).hasContent("new");
  }

  @Test
  void aFailureToReplaceLeavesWhatWasThere() throws Exception {
    new Exports(run, 5).publish(10, content("first"));
    Exports exports = new Exports(run, 5);
    for (int failing = 1; failing <= 2; failing++) {
      AtomicInteger left = new AtomicInteger(failing);
      assertThatThrownBy(
              () ->
                  exports.publish(
                      10,
                      directory -> {
                        content("half").write(directory);
                        if (left.decrementAndGet() == 0) {
                          throw new IOException("disk full");
                        }
                      }))
          .hasMessageContaining("disk full");
      assertThat(names()).containsExactly("latest", "step-00000010");
      assertThat(run.resolve("export/latest/config.json")).hasContent("first");
    }
  }

  /** The moment between the removal of an export and the appearance of the one in its place. */
  @Test
  void anAttemptThatDiesWhileItReplacesLeavesAWholeExport() throws Exception {
    Path bridge = run.resolve("export/.tmp-bridge");
    Files.createDirectories(run.resolve("export"));
    content("second").write(bridge);
    Files.createSymbolicLink(run.resolve("export/latest"), bridge.getFileName());
    Files.createDirectory(run.resolve("export/.tmp-first"));

    Exports exports = new Exports(run, 5);
    exports.clean();
    assertThat(names()).containsExactly(".tmp-bridge", "latest");
    assertThat(run.resolve("export/latest/config.json")).hasContent("second");

    exports.publish(10, content("third"));
    assertThat(names()).containsExactly("latest", "step-00000010");
    assertThat(run.resolve("export/latest/config.json")).hasContent("third");
  }

  @Test
  void aFailureLeavesWhatWasThere() throws Exception {
    Exports exports = new Exports(run, 5);
    exports.publish(10, content("first"));
    assertThatThrownBy(
            () ->
                exports.publish(
                    20,
                    directory -> {
                      Files.createDirectory(directory);
                      Files.writeString(directory.resolve("half"), "");
                      throw new IOException("disk full");
                    }))
        .hasMessageContaining("step-00000020")
        .hasMessageContaining("disk full");
    assertThat(names()).containsExactly("latest", "step-00000010");
  }

  @Test
  void leftoversOfADeadAttemptAreRemoved() throws Exception {
    Exports exports = new Exports(run, 5);
    exports.publish(10, content("first"));
    Files.createDirectory(run.resolve("export/.tmp-1234"));
    Files.writeString(run.resolve("export/.tmp-1234/half"), "");
    exports.clean();
    assertThat(names()).containsExactly("latest", "step-00000010");
  }
}
