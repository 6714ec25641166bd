package org.draftmill.compute.io;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.draftmill.compute.InputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seen through the readers of a model's folder. */
class InputFileTest {
  @TempDir Path dir;

  private void refused(String why) {
    Path weights = dir.resolve(ModelFiles.SINGLE);
    assertThatThrownBy(() -> ModelFiles.open(dir))
        .isInstanceOf(InputException.class)
        .hasMessage("%s cannot be read: %s.", weights, why)
        .hasNoCause(); // nothing that a restart could help
    assertThatThrownBy(() -> JsonConfig.read(weights))
        .isInstanceOf(InputException.class)
        .hasMessage("%s cannot be read: %s.", weights, why);
  }

  @Test
  void aLinkThatLeadsBackToItself() throws Exception {
    Files.createSymbolicLink(dir.resolve(ModelFiles.SINGLE), Path.of(ModelFiles.SINGLE));

    refused("it is a link that leads back to itself");
  }

  @Test
  void aLinkToNothing() throws Exception {
    Files.createSymbolicLink(dir.resolve(ModelFiles.SINGLE), Path.of("blob"));

    refused("it is a link to something that is not there");
  }

  @Test
  void aFolder() throws Exception {
    Files.createDirectory(dir.resolve(ModelFiles.SINGLE));

    refused("it is a folder");
  }

  @Test
  void aPipe() throws Exception {
    Path pipe = dir.resolve(ModelFiles.SINGLE);
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);

    refused("it is a pipe or a device");
  }

  @Test
  void aFileThatMustNotBeRead() throws Exception {
    Path file = Files.writeString(dir.resolve(ModelFiles.SINGLE), "{}");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));
    assumeFalse(Files.isReadable(file), "this user may read everything");

    refused("permission is denied");
  }

  @Test
  void aFolderThatIsNotThere() {
    Path folder = dir.resolve("gone");

    assertThatThrownBy(() -> JsonConfig.read(folder.resolve("config.json")))
        .isInstanceOf(InputException.class)
        .hasMessageEndingWith("config.json cannot be read: there is no folder " + folder + ".");
  }
}
