package org.draftmill.corpus.io;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.draftmill.corpus.InputException;

/**
 * Opens what a user named, or what lies in a folder that a user named. What is no regular file is
 * refused before it is opened, for a pipe may wait for ever and a device may never end; and what is
 * wrong with a name is said: nothing has it, a link leads nowhere or back to itself, it is a
 * folder, reading is not allowed.
 *
 * <p>What keeps a storage from answering just now is none of these, and stays an {@link
 * IOException}.
 */
public final class InputFile {
  /** How many links systems follow before they give up, too. */
  private static final int LONGEST_CHAIN = 40;

  private InputFile() {}

  /**
   * Whether anything has this name, be it a link that leads nowhere: who may do without a file must
   * not do so when it is there and cannot be read.
   */
  public static boolean isNamed(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * @throws InputException if it is no regular file, or must not be read
   */
  public static FileChannel open(Path file) throws IOException {
    try {
      BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
      if (!found.isRegularFile()) {
        throw refusal(file, found.isDirectory() ? "it is a folder" : "it is a pipe or a device");
      }
      return FileChannel.open(file, StandardOpenOption.READ);
    } catch (FileSystemException e) {
      throw refusal(file, e, "file");
    }
  }

  /** The same from its first byte on. */
  public static InputStream stream(Path file) throws IOException {
    return Channels.newInputStream(open(file));
  }

  /**
   * @throws InputException if it is no folder, or nothing in it may be reached
   */
  public static void requireFolder(Path folder) throws IOException {
    try {
      if (!Files.readAttributes(folder, BasicFileAttributes.class).isDirectory()) {
        throw refusal(folder, "it is no folder");
      }
      if (!Files.isExecutable(folder)) {
        throw refusal(folder, "permission is denied");
      }
    } catch (FileSystemException e) {
      throw refusal(folder, e, "folder");
    }
  }

  /**
   * Looks for the first name on the way that does not lead on.
   *
   * @param wanted what it should be
   * @throws FileSystemException {@code e}, if there is none
   */
  private static InputException refusal(Path path, FileSystemException e, String wanted)
      throws FileSystemException {
    if (e instanceof AccessDeniedException) {
      return refusal(path, "permission is denied");
    }
    boolean missing = e instanceof NoSuchFileException;
    Path whole = path.toAbsolutePath();
    Path last = whole;
    Path next = null;
    while (!isNamed(last) && last.getParent() != null) {
      next = last;
      last = last.getParent();
    }
    String name = next == null ? "it" : last.toString();
    if (leadsBack(last)) {
      return refusal(path, name + " is a link that leads back to itself");
    } else if (missing && !Files.exists(last)) {
      return refusal(path, name + " is a link to something that is not there");
    } else if (next != null && Files.exists(last) && !Files.isDirectory(last)) {
      return refusal(path, name + " is no folder");
    } else if (missing && next != null) {
      return refusal(
          path, "there is no " + (next.equals(whole) ? "such " + wanted : "folder " + next));
    }
    throw e;
  }

  private static InputException refusal(Path path, String why) {
    return new InputException("%s cannot be read: %s.".formatted(path, why));
  }

  private static boolean leadsBack(Path link) {
    Path at = link;
    try {
      for (int followed = 0; followed < LONGEST_CHAIN; followed++) {
        if (!Files.isSymbolicLink(at)) {
          return false;
        }
        at = at.resolveSibling(Files.readSymbolicLink(at));
      }
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
