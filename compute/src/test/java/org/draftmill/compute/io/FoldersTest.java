package org.draftmill.compute.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldersTest {
  @TempDir Path temporary;

  @Test
  void deletesATreeButNotWhereItsLinksLead() throws IOException {
    Path outside = Files.createDirectory(temporary.resolve("outside"));
    Path file = Files.writeString(outside.resolve("file"), "stays");
    Path tree = Files.createDirectories(temporary.resolve("tree/a/b"));
    Files.writeString(tree.resolve("file"), "goes");
    Files.createSymbolicLink(temporary.resolve("tree/link"), outside);

    Folders.delete(temporary.resolve("tree"));

    assertThat(temporary.resolve("tree")).doesNotExist();
    assertThat(file).hasContent("stays");
  }

  @Test
  void deletesALinkThatLeadsNowhere() throws IOException {
    Path link = Files.createSymbolicLink(temporary.resolve("link"), Path.of("nowhere"));
    Folders.delete(link);
    assertThat(link).doesNotExist();
    assertThat(Files.isSymbolicLink(link)).isFalse();
  }

  @Test
  void nothingIsNoError() throws IOException {
    Folders.delete(temporary.resolve("nothing"));
  }
}
