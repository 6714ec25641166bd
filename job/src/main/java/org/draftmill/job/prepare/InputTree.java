package org.draftmill.job.prepare;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.InputFile;

/**
 * Looks at an input before Flink does: it takes a device or a pipe for a file without rows, and a
 * folder that holds itself by a link for one that goes on for ever.
 */
final class InputTree {
  private InputTree() {}

  /** What is left out below a folder: hidden files, and those that a job has not finished. */
  static boolean isLeftOut(String name) {
    return name.startsWith(".") || name.startsWith("_");
  }

  /**
   * @throws InputException naming what cannot be read as a file or a folder
   */
  static void requireReadable(Path input) throws IOException {
    if (!Files.isDirectory(input)) {
      InputFile.open(input).close();
      return;
    }
    Files.walkFileTree(
        input, Set.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new Reader(input));
  }

  /** Opens every file. */
  private static final class Reader extends SimpleFileVisitor<Path> {
    private final Path input;

    Reader(Path input) {
      this.input = input;
    }

    private boolean isLeftOut(Path path) {
      return !path.equals(input) && InputTree.isLeftOut(path.getFileName().toString());
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
      return isLeftOut(folder) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      if (!isLeftOut(file)) {
        InputFile.open(file).close();
      }
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
      if (isLeftOut(path)) {
        return FileVisitResult.CONTINUE;
      } else if (e instanceof FileSystemLoopException) {
        throw new InputException(
            "%s cannot be read: it is a link to a folder that holds it.".formatted(path));
      } else if (e instanceof AccessDeniedException) {
        throw new InputException("%s cannot be read: permission is denied.".formatted(path));
      }
      throw e;
    }
  }
}
