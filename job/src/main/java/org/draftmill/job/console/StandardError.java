package org.draftmill.job.console;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The start script filters what the JVM itself writes to descriptor 2 and keeps the user's standard
 * error as descriptor 3: this makes {@code System.err} that one.
 */
public final class StandardError {
  private static final Path DESCRIPTOR = Path.of("/dev/fd/3");

  private StandardError() {}

  /** Does nothing where the script did not start this process. */
  public static void redirect() {
    if (System.getProperty("draftmill.home") == null || !Files.isWritable(DESCRIPTOR)) {
      return;
    }
    try {
      // Appending: a file behind the descriptor is opened anew and must not be cut.
      FileOutputStream stream = new FileOutputStream(DESCRIPTOR.toFile(), true);
      System.setErr(new PrintStream(stream, true, StandardCharsets.UTF_8));
    } catch (IOException e) {
      // A socket cannot be opened by name; descriptor 2 leads to the same place.
    }
  }
}
