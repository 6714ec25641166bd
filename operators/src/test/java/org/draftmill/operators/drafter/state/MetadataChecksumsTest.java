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
}
