package org.draftmill.compute.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** What the file system does not offer for whole folders. */
public final class Folders {
  private Folders() {}

  /** Deletes a file, a link (not what it leads to) or a folder with all in it, if it is there. */
  public static void delete(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    List<Path> deepestFirst;
    try (Stream<Path> tree = Files.walk(path)) {
      deepestFirst = tree.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path each : deepestFirst) {
      Files.deleteIfExists(each);
    }
  }
}
