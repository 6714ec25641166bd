package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;
import org.draftmill.compute.io.AtomicFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateFilesTest {
  @TempDir Path run;
  private StateFiles files;

  @BeforeEach
  void open() {
    files = new StateFiles(run);
  }

  private SnapshotReference put(StateFiles.Snapshot snapshot, int rank, String text)
      throws IOException {
    Path path = run.resolve(StateFiles.relative(snapshot, rank));
    Files.createDirectories(path.getParent());
    AtomicFile.Written written = AtomicFile.write(path, text.getBytes());
    return new SnapshotReference(
        run.relativize(path).toString(),
        written.bytes(),
        written.crc32c(),
        rank,
        snapshot.size(),
        snapshot.step(),
        0,
        List.of(),
        new RunIdentity(Map.of()));
  }

  private static StateFiles.Snapshot snapshot(long checkpoint, boolean savepoint, long step) {
    return new StateFiles.Snapshot(checkpoint, savepoint, step, "0a1b2c3d", 2);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> walk = Files.walk(run)) {
      return walk.filter(Files::isRegularFile)
          .map(path -> run.relativize(path).toString())
          .sorted()
          .toList();
    }
  }

  @Test
  void deletesOnlyStatesOfOlderCheckpoints() throws Exception {
    put(snapshot(3, false, 10), 0, "a");
    put(snapshot(3, false, 10), 1, "b");
    put(snapshot(4, true, 10), 0, "c");
    put(snapshot(5, false, 11), 0, "d");
    Path foreign = run.resolve("drafter/step-00000011/notes.txt");
    Files.writeString(foreign, "mine");
    files.deleteBefore(5);
    assertThat(names())
        .containsExactly(
            "drafter/step-00000010/savepoint-4.0a1b2c3d.0-of-2.safetensors",
            "drafter/step-00000011/checkpoint-5.0a1b2c3d.0-of-2.safetensors",
            "drafter/step-00000011/notes.txt");
    Files.delete(run.resolve("drafter/step-00000010/savepoint-4.0a1b2c3d.0-of-2.safetensors"));
    put(snapshot(3, false, 10), 1, "b");
    files.deleteBefore(5);
    assertThat(run.resolve("drafter/step-00000010")).doesNotExist();
  }

  @Test
  void whatACheckpointNeedsThatIsStillThereStays() throws Exception {
    for (int checkpoint = 3; checkpoint <= 6; checkpoint++) {
      put(snapshot(checkpoint, false, checkpoint), 0, "a");
    }
    metadata("job-1/chk-3", "_metadata"); // retained by the cluster, whatever the run asks for
    metadata("job-2/chk-4", "_metadata.damaged"); // set aside
    Files.createDirectories(run.resolve("checkpoints/job-2/chk-5")); // never completed
    files.deleteBefore(6);
    assertThat(names().stream().filter(name -> name.startsWith("drafter/")))
        .containsExactly(
            "drafter/step-00000003/checkpoint-3.0a1b2c3d.0-of-2.safetensors",
            "drafter/step-00000004/checkpoint-4.0a1b2c3d.0-of-2.safetensors",
            "drafter/step-00000006/checkpoint-6.0a1b2c3d.0-of-2.safetensors");
  }

  private void metadata(String checkpoint, String name) throws IOException {
    Path directory = Files.createDirectories(run.resolve("checkpoints").resolve(checkpoint));
    Files.createFile(directory.resolve(name));
  }

  @Test
  void resolvesAndVerifiesWhatACheckpointRefersTo() throws Exception {
    SnapshotReference one = put(snapshot(3, false, 10), 1, "second");
    SnapshotReference zero = put(snapshot(3, false, 10), 0, "first");
    assertThat(files.resolve(List.of(one, zero)))
        .containsExactlyElementsOf(files.all(snapshot(3, false, 10)));
    files.verify(one);

    assertThatThrownBy(() -> files.resolve(List.of(one)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("refers to 1 drafter files, but one of them is 1 of 2");

    Files.writeString(run.resolve(one.path()), "secont");
    assertThatThrownBy(() -> files.verify(one))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(one.path())
        .hasMessageContaining("it is damaged");
    Files.writeString(run.resolve(one.path()), "se");
    assertThatThrownBy(() -> files.resolve(List.of(one, zero)))
        .hasMessageContaining("has 2 bytes where the checkpoint refers to 6");
    Files.delete(run.resolve(one.path()));
    assertThatThrownBy(() -> files.resolve(List.of(one, zero)))
        .hasMessageContaining("is missing, but the checkpoint needs it");
  }

  @Test
  void aPathOutsideTheRunIsRefused() throws Exception {
    SnapshotReference evil =
        new SnapshotReference(
            "../../etc/passwd", 1, 1, 0, 1, 1, 0, List.of(), new RunIdentity(Map.of()));
    assertThatThrownBy(() -> files.resolve(List.of(evil)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("outside the run directory");
  }

  /** Some languages write numbers with digits of their own; names of files must not. */
  @Test
  void namesDoNotDependOnTheLanguage() throws Exception {
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("ar-EG"));
    try {
      put(snapshot(3, false, 10), 1, "a");
      assertThat(names())
          .containsExactly("drafter/step-00000010/checkpoint-3.0a1b2c3d.1-of-2.safetensors");
      files.deleteBefore(4);
      assertThat(names()).isEmpty();
    } finally {
      Locale.setDefault(before);
    }
  }
}
