package org.draftmill.corpus.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InputFileTest {
  @TempDir Path dir;

  private static void refuses(Path file, String why) {
    assertThatThrownBy(() -> InputFile.open(file))
        .isInstanceOf(InputException.class)
        .hasMessage("%s cannot be read: %s.", file, why);
  }

  private static void refusesFolder(Path folder, String why) {
    assertThatThrownBy(() -> InputFile.requireFolder(folder))
        .isInstanceOf(InputException.class)
        .hasMessage("%s cannot be read: %s.", folder, why);
  }

  private Path link(String name, String target) throws Exception {
    return Files.createSymbolicLink(dir.resolve(name), Path.of(target));
  }

  @Test
  void opensFilesAndLinksToFiles() throws Exception {
    Files.writeString(dir.resolve("file"), "text");
    Path link = link("link", "file");

    try (FileChannel channel = InputFile.open(link)) {
      assertThat(channel.size()).isEqualTo(4);
    }
    InputFile.requireFolder(dir);
    InputFile.requireFolder(link("folder", "."));
  }

  @Test
  void namesWhatIsNotThere() {
    refuses(dir.resolve("file"), "there is no such file");
    refuses(dir.resolve("a/b/file"), "there is no folder " + dir.resolve("a"));
    refusesFolder(dir.resolve("folder"), "there is no such folder");
  }

  @Test
  void saysOfLinksWhereTheyDoNotLead() throws Exception {
    Path dangling = link("dangling", "gone");
    Path loop = link("loop", "pool");
    link("pool", "loop");

    refuses(dangling, "it is a link to something that is not there");
    refuses(loop, "it is a link that leads back to itself");
    refuses(loop.resolve("file"), loop + " is a link that leads back to itself");
    refuses(dangling.resolve("file"), dangling + " is a link to something that is not there");
    refusesFolder(loop, "it is a link that leads back to itself");
    assertThat(InputFile.isNamed(dangling)).isTrue();
    assertThat(InputFile.isNamed(loop)).isTrue();
    assertThat(InputFile.isNamed(dir.resolve("gone"))).isFalse();
  }

  @Test
  void tellsFilesFromFolders() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "text");

    refuses(dir, "it is a folder");
    refuses(file.resolve("deeper"), file + " is no folder");
    refusesFolder(file, "it is no folder");
  }

  /** Opening a pipe that nobody writes to would wait for ever, reading the device never end. */
  @Test
  void refusesWhatIsNoFileBeforeItIsOpened() throws Exception {
    Path device = Path.of("/dev/zero");
    assumeTrue(Files.exists(device));
    Path pipe = dir.resolve("pipe");
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);

    refuses(device, "it is a pipe or a device");
    refuses(pipe, "it is a pipe or a device");
  }

  @Test
  void saysThatReadingIsNotAllowed() throws Exception {
    Path file = Files.writeString(dir.resolve("secret"), "text");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
    assumeFalse(Files.isReadable(file), "this user may read everything");

    refuses(file, "permission is denied");
    Path folder = Files.createDirectory(dir.resolve("locked"));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("---------"));
    refusesFolder(folder, "permission is denied");
    refuses(folder.resolve("file"), "permission is denied");
  }
}
