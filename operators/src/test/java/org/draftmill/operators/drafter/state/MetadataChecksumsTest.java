package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.compute.io.Folders;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MetadataChecksumsTest {
  @TempDir Path dir;
  private Path checkpoints;
  private MetadataChecksums checksums;

  @BeforeEach
  void prepare() throws IOException {
    checkpoints = Files.createDirectories(dir.resolve("checkpoints"));
    checksums = new MetadataChecksums(checkpoints);
  }

  private Path state(String name) throws IOException {
    Path state = Files.createDirectories(checkpoints.resolve(name));
    Files.writeString(state.resolve("_metadata"), name + " is complete");
    return state;
  }

  @Test
  void oneDamagedByteIsFound() throws Exception {
    Path sound = state("job/chk-1");
    Path damaged = state("job/chk-2");
    checksums.record(sound);
    checksums.record(damaged);
    byte[] bytes = Files.readAllBytes(damaged.resolve("_metadata"));
    bytes[3] ^= 1;
    Files.write(damaged.resolve("_metadata"), bytes);

    assertThat(checksums.matches(sound)).isTrue();
    assertThat(checksums.matches(damaged)).isFalse();
  }

  @Test
  void ofWhatIsNotKnownNothingIsSaid() throws Exception {
    assertThat(checksums.matches(state("savepoint-1"))).isTrue();
    Files.writeString(checkpoints.resolve("checksums"), "what is this\nzzzzzzzz savepoint-1\n");
    assertThat(checksums.matches(checkpoints.resolve("savepoint-1"))).isTrue();
  }

  @Test
  void aSavepointIsKnownWhereverItLiesAndIsMoved() throws Exception {
    Path elsewhere = state("../elsewhere/savepoint-1a2b-3c4d");
    checksums.record(elsewhere);
    checksums.record(state("job/chk-2"));
    Path moved = checkpoints.resolve("savepoint-1a2b-3c4d");
    Files.move(elsewhere, moved);

    assertThat(checksums.of(moved)).isPresent();
    assertThat(checksums.matches(moved)).isTrue();
    Files.writeString(moved.resolve("_metadata"), "something else");
    assertThat(checksums.matches(moved)).isFalse();
  }

  @Test
  void thoseThatAreGoneAreForgotten() throws Exception {
    Path old = state("job/chk-1");
    checksums.record(old);
    Folders.delete(old);
    checksums.record(state("job/chk-2"));
    checksums.record(checkpoints.resolve("job/chk-3")); // lies elsewhere

    assertThat(Files.readAllLines(checkpoints.resolve("checksums")))
        .hasSize(1)
        .allMatch(line -> line.endsWith(" job/chk-2"));
  }

  @Test
  void savepointsThatAreGoneAreForgotten() throws Exception {
    Path own = state("savepoint-1a2b-3c4d");
    Path elsewhere = state("../elsewhere/savepoint-1a2b-5e6f");
    Path kept = state("../elsewhere/savepoint-1a2b-7081");
    checksums.record(own);
    checksums.record(elsewhere);
    checksums.record(kept);
    Folders.delete(own);
    Folders.delete(elsewhere);

    checksums.record(state("job/chk-2"));

    assertThat(checksums.of(own)).isEmpty();
    assertThat(checksums.of(elsewhere)).isEmpty();
    assertThat(checksums.of(kept)).isPresent();
    assertThat(Files.readAllLines(checkpoints.resolve("checksums"))).hasSize(2);
  }

  @Test
  void savepointsWhoseFileSystemIsNotThereStayKnown() throws Exception {
    Path savepoint = state("../mounted/savepoint-1a2b-3c4d");
    Path deeper = state("../mounted/deeper/savepoint-1a2b-5e6f");
    checksums.record(savepoint);
    checksums.record(deeper);
    Folders.delete(dir.resolve("mounted"));
    Files.createDirectory(dir.resolve("mounted")); // as it is when nothing is mounted

    checksums.record(state("job/chk-2"));

    assertThat(checksums.of(savepoint)).isPresent();
    assertThat(checksums.of(deeper)).isPresent();
  }

  @Test
  void aSavepointWhoseLineDoesNotSayWhereItLiesStaysKnown() throws Exception {
    Files.writeString(checkpoints.resolve("checksums"), "0123abcd savepoint-1a2b-3c4d\n");

    checksums.record(state("job/chk-2"));

    assertThat(checksums.of(Path.of("savepoint-1a2b-3c4d"))).hasValue(0x0123abcdL);
  }

  @Test
  void theFolderOfTheRunMayMove() throws Exception {
    checksums.record(state("savepoint-1a2b-3c4d"));
    checkpoints = Files.move(checkpoints, dir.resolve("moved"));
    checksums = new MetadataChecksums(checkpoints);
    Folders.delete(checkpoints.resolve("savepoint-1a2b-3c4d"));

    checksums.record(state("job/chk-2"));

    assertThat(Files.readAllLines(checkpoints.resolve("checksums"))).hasSize(1);
  }
}
