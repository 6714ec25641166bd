package org.draftmill.job.console;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.draftmill.compute.InputException;

/** Where a command is to write: found out before the work, not after it. */
public final class OutputFolder {
  private OutputFolder() {}

  /**
   * Makes the folder if it is not there, and tries to write to it.
   *
   * @param option that names it
   * @throws InputException if that cannot be done
   */
  public static void require(String option, Path folder) {
    try {
      Files.createDirectories(folder);
      Files.delete(Files.createTempFile(folder, ".draftmill-", ".tmp"));
    } catch (IOException e) {
      throw unwritable(option, folder, e);
    }
  }

  /** What to say of a folder that something could not be written to. */
  public static InputException unwritable(String option, Path folder, IOException cause) {
    return new InputException(
        "%s %s cannot be written to: %s. Give another directory, or the right to write there."
            .formatted(option, folder, why(cause)),
        cause);
  }

  /** What went wrong with a file that is written, in words that do not repeat its name. */
  public static String why(IOException e) {
    if (e instanceof NoSuchFileException) {
      return "its directory is not there";
    } else if (e instanceof AccessDeniedException) {
      return "permission is denied";
    } else if (e instanceof FileAlreadyExistsException exists) {
      return exists.getFile() + " is no directory";
    } else if (e instanceof FileSystemException file && file.getReason() != null) {
      return file.getReason();
    }
    return String.valueOf(e.getMessage());
  }
}
