package org.draftmill.compute.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Loads the native part of one of JCuda's bindings. JCuda extracts it into the directory for
 * temporary files, which anybody may write to, and takes a file that is already there as it is;
 * therefore it is shown a directory of its own.
 */
final class NativeBinding {
  private static final String TEMPORARY_DIRECTORY = "java.io.tmpdir";

  private NativeBinding() {}

  /**
   * @param binding the class whose initialization loads it
   * @return why it does not load, or {@code null} if it did
   */
  static synchronized Throwable load(String binding) {
    try {
      Path directory = Files.createTempDirectory("draftmill-jcuda"); // for its owner only
      try {
        loadFrom(directory, binding);
      } finally {
        delete(directory);
      }
      return null;
    } catch (IOException | LinkageError | ClassNotFoundException e) {
      return e;
    }
  }

  /** JCuda reads the property when it extracts its library, and only then. */
  private static void loadFrom(Path directory, String binding) throws ClassNotFoundException {
    String usual = System.getProperty(TEMPORARY_DIRECTORY);
    System.setProperty(TEMPORARY_DIRECTORY, directory.toString());
    try {
      Class.forName(binding, true, NativeBinding.class.getClassLoader());
    } finally {
      System.setProperty(TEMPORARY_DIRECTORY, usual);
    }
  }

  /** Once loaded the file is not needed; that it cannot be deleted is no reason against CUDA. */
  private static void delete(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(directory);
    } catch (IOException | UncheckedIOException e) {
      // It stays in the directory for temporary files.
    }
  }
}
