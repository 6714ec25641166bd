package org.draftmill.job.prepare;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.draftmill.corpus.InputException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InputTreeTest {
  @TempDir Path dir;

  @BeforeEach
  void writeText() throws Exception {
    Files.createDirectories(dir.resolve("more"));
    Files.writeString(dir.resolve("more/a.jsonl"), "{\"text\": \"a\"}\n");
  }

  private void refuses(Path path, String why) {
    assertThatThrownBy(() -> InputTree.requireReadable(dir))
        .isInstanceOf(InputException.class)
        .hasMessage("%s cannot be read: %s.", path, why);
  }

  @Test
  void takesFilesFoldersAndLinksToThem() throws Exception {
    Files.createSymbolicLink(dir.resolve("link"), Path.of("more"));
    Files.createSymbolicLink(dir.resolve("b.jsonl"), Path.of("more", "a.jsonl"));

    InputTree.requireReadable(dir);
    InputTree.requireReadable(dir.resolve("b.jsonl"));
  }

  @Test
  void doesNotLookAtWhatIsLeftOut() throws Exception {
    Files.createSymbolicLink(dir.resolve(".hidden"), Path.of("gone"));
    Files.createDirectories(dir.resolve("_temporary"));
    Files.createSymbolicLink(dir.resolve("_temporary/part"), Path.of("gone"));

    InputTree.requireReadable(dir);
  }

  @Test
  void refusesAFolderThatHoldsItself() throws Exception {
    Path self = Files.createSymbolicLink(dir.resolve("more/self"), Path.of("..", "more"));

    refuses(self, "it is a link to a folder that holds it");
  }

  @Test
  void refusesALinkToNothing() throws Exception {
    Path link = Files.createSymbolicLink(dir.resolve("more/b.jsonl"), Path.of("gone"));

    refuses(link, "it is a link to something that is not there");
  }

  /** Flink sees a file of no bytes in it, and the dataset would lack all that it gives. */
  @Test
  void refusesAPipe() throws Exception {
    Path pipe = dir.resolve("more/b.jsonl");
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);

    refuses(pipe, "it is a pipe or a device");
  }
}
