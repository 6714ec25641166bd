package org.draftmill.job.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;

/**
 * The start script filters what the JVM itself writes to descriptor 2 and keeps the user's standard
 * error as another one, which it names in {@code draftmill.stderr}: this makes {@code System.err}
 * that one.
 *
 * <p>The descriptor is taken as it is. Opened by its name, {@code /dev/fd/3}, a file behind it
 * would have a position of its own, and what others write to the same file (standard output, the
 * shell that started the script) would stand over it.
 */
public final class StandardError {
  private static final String PROPERTY = "draftmill.stderr";

  private StandardError() {}

  /** Does nothing where the script did not start this process. */
  public static void redirect() {
    Integer descriptor = Integer.getInteger(PROPERTY);
    if (descriptor == null) {
      return;
    }
    try {
      Constructor<FileDescriptor> constructor =
          FileDescriptor.class.getDeclaredConstructor(int.class);
      constructor.setAccessible(true);
      FileOutputStream stream = new FileOutputStream(constructor.newInstance(descriptor));
      System.setErr(new PrintStream(stream, true, StandardCharsets.UTF_8));
    } catch (ReflectiveOperationException | RuntimeException e) {
      // Without --add-opens=java.base/java.io=ALL-UNNAMED; descriptor 2 leads to the same place.
    }
  }
}
