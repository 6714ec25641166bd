package org.draftmill.job.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.draftmill.compute.InputException;

/**
 * Keeps two processes from working on one run directory. The lock is the operating system's: it
 * goes with the process, however that ends.
 */
public final class RunLock implements AutoCloseable {
  private final FileChannel channel;

  private RunLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * @throws InputException if somebody else works on the directory
   */
  public static RunLock of(RunDirectory directory) throws IOException {
    Path file = directory.root().resolve(".lock");
    FileChannel channel = open(file);
    FileLock lock = null;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // Held by this process: the same refusal as for another one.
    } finally {
      if (lock == null) {
        channel.close();
      }
    }
    if (lock == null) {
      throw new InputException(
          "Another run (process %s) is working in %s; wait for it, stop it, or choose another run.dir."
              .formatted(holder(file), directory.root()));
    }
    try {
      channel.truncate(0);
      channel.write(
          ByteBuffer.wrap(
              Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      channel.close();
      throw unwritable(directory.root(), e);
    }
    return new RunLock(channel);
  }

  private static String holder(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.US_ASCII).strip();
  }

  private static FileChannel open(Path file) {
    try {
      return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw unwritable(file.getParent(), e);
    }
  }

  private static InputException unwritable(Path directory, IOException e) {
    return new InputException(
        "The run directory %s cannot be written to: %s. Make room or give the right to write, or choose another run.dir."
            .formatted(directory, e.getMessage()),
        e);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
