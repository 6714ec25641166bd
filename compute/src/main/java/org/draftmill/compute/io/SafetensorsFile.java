package org.draftmill.compute.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.draftmill.compute.InputException;

/**
 * A safetensors file, mapped into memory tensor by tensor, so that its size does not matter:
 *
 * <pre>
 * 0   u64 little-endian   n, length of the header
 * 8   n bytes             JSON: name → {dtype, shape, data_offsets: [begin, end]}, and __metadata__
 * 8+n                     the tensors' little-endian, row-major bytes, without gaps
 * </pre>
 *
 * <p>Every damage is an {@link InputException} that names the file, the tensor and the values
 * found. Nothing is allocated for a length before it was compared with the size of the file.
 */
public final class SafetensorsFile implements AutoCloseable {
  /** Longest header that the format allows. */
  static final long MAX_HEADER_BYTES = 100_000_000;

  static final int PREFIX_BYTES = Long.BYTES;

  private final Path path;
  private final FileChannel channel;
  private final long dataStart;
  private final Map<String, StoredTensor> tensors = new LinkedHashMap<>();
  private final Map<String, String> metadata;

  private SafetensorsFile(
      Path path, FileChannel channel, long dataStart, SafetensorsHeader header) {
    this.path = path;
    this.channel = channel;
    this.dataStart = dataStart;
    this.metadata = header.metadata();
    for (SafetensorsHeader.Entry entry : header.entries()) {
      tensors.put(entry.name(), new StoredTensor(this, entry));
    }
  }

  /** Opens and checks {@code path}; reads no tensor yet. */
  public static SafetensorsFile open(Path path) {
    FileChannel channel = null;
    try {
      channel = InputFile.open(path);
      SafetensorsFile file = open(path, channel);
      channel = null;
      return file;
    } catch (IOException e) {
      throw new InputException(path + ": cannot be read: " + e.getMessage(), e);
    } finally {
      closeQuietly(channel);
    }
  }

  private static SafetensorsFile open(Path path, FileChannel channel) throws IOException {
    long size = channel.size();
    if (size < PREFIX_BYTES + 2) {
      throw new InputException(
          "%s: holds %d bytes, too few for a safetensors file.".formatted(path, size));
    }
    long headerBytes = readFully(path, channel, PREFIX_BYTES, 0).getLong();
    long available = size - PREFIX_BYTES;
    if (headerBytes < 2 || headerBytes > Math.min(available, MAX_HEADER_BYTES)) {
      throw new InputException(
          "%s: claims a header of %s bytes, but %d follow (and %d is the most allowed); it is truncated or no safetensors file."
              .formatted(path, Long.toUnsignedString(headerBytes), available, MAX_HEADER_BYTES));
    }
    byte[] json = readFully(path, channel, (int) headerBytes, PREFIX_BYTES).array();
    SafetensorsHeader header = SafetensorsHeader.parse(path, json, available - headerBytes);
    return new SafetensorsFile(path, channel, PREFIX_BYTES + headerBytes, header);
  }

  private static ByteBuffer readFully(Path path, FileChannel channel, int length, long position)
      throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, position + buffer.position()) < 0) {
        throw new InputException(path + ": became shorter while it was read.");
      }
    }
    return buffer.flip();
  }

  public Path path() {
    return path;
  }

  /** The free-form text entries of the header. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** All tensors by name, in the order of their bytes. */
  public Map<String, StoredTensor> tensors() {
    return Collections.unmodifiableMap(tensors);
  }

  public boolean contains(String name) {
    return tensors.containsKey(name);
  }

  /** The tensor of that name, or an {@link InputException} when there is none. */
  public StoredTensor tensor(String name) {
    StoredTensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new InputException(
          "%s: has no tensor '%s' among its %d.".formatted(path, name, tensors.size()));
    }
    return tensor;
  }

  /** Maps {@code length} bytes of the data, read-only and little-endian. */
  ByteBuffer map(long begin, long length) {
    try {
      return channel
          .map(FileChannel.MapMode.READ_ONLY, dataStart + begin, length)
          .order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new InputException(path + ": cannot be mapped into memory: " + e.getMessage(), e);
    }
  }

  /** Closes the file; what was mapped stays readable. Twice is harmless. */
  @Override
  public void close() {
    closeQuietly(channel);
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // Nothing was written through this channel, so nothing can be lost.
    }
  }
}
