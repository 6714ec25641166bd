package org.draftmill.compute.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * A file that appears whole or not at all: written under a temporary name beside its place, forced
 * to disk, then renamed. Closing without {@link #commit} leaves what was there before.
 */
public final class AtomicFile implements AutoCloseable {
  /** What a committed file holds, for whoever refers to it. */
  public record Written(Path path, long bytes, long crc32c) {}

  private final Path path;
  private final Path temporary;
  private final FileChannel channel;
  private final CRC32C crc = new CRC32C();
  private long bytes;

  private AtomicFile(Path path, Path temporary, FileChannel channel) {
    this.path = path;
    this.temporary = temporary;
    this.channel = channel;
  }

  /** Starts {@code path}, whose folder must exist. */
  public static AtomicFile create(Path path) throws IOException {
    Path absolute = path.toAbsolutePath();
    Path temporary =
        absolute.resolveSibling(
            "." + absolute.getFileName() + "." + Long.toHexString(System.nanoTime()) + ".tmp");
    FileChannel channel =
        FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    return new AtomicFile(path, temporary, channel);
  }

  /** Writes {@code content} as the whole of {@code path}. */
  public static Written write(Path path, byte[] content) throws IOException {
    try (AtomicFile file = create(path)) {
      file.append(ByteBuffer.wrap(content));
      return file.commit();
    }
  }

  /** Appends the buffer from its position to its limit. */
  public void append(ByteBuffer content) throws IOException {
    bytes += content.remaining();
    crc.update(content.duplicate());
    while (content.hasRemaining()) {
      channel.write(content);
    }
  }

  public long bytes() {
    return bytes;
  }

  /** Makes the file visible under its name, replacing what was there. */
  public Written commit() throws IOException {
    channel.force(true);
    channel.close();
    Files.move(
        temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    forceFolder(path.toAbsolutePath().getParent());
    return new Written(path, bytes, crc.getValue());
  }

  /** Makes the names in {@code folder} durable, where the file system offers that. */
  public static void forceFolder(Path folder) {
    try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
      directory.force(true);
    } catch (IOException e) {
      // Some file systems cannot open folders; the rename is atomic without it, only later durable.
    }
  }

  /** Checksum of a whole file, to compare with {@link Written#crc32c}. */
  public static long crc32c(Path path) throws IOException {
    CRC32C crc = new CRC32C();
    ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      while (channel.read(buffer.clear()) >= 0) {
        crc.update(buffer.flip());
      }
    }
    return crc.getValue();
  }

  @Override
  public void close() throws IOException {
    channel.close();
    Files.deleteIfExists(temporary);
  }
}
