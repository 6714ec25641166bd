package org.draftmill.compute.io;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.draftmill.compute.DType;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Workspace;

/**
 * Writes a safetensors file: tensors are announced first and their values are pulled while the file
 * is written, so that only one chunk is held in memory. Equal content gives equal bytes, whatever
 * the order of the announcements: wider types come first (which keeps every tensor aligned), equal
 * ones by name. The file appears atomically.
 */
public final class SafetensorsWriter {
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int ALIGNMENT = 8;

  /** Gives the values of a tensor, little-endian and row-major, piece by piece. */
  public interface Content {
    void writeTo(Sink sink) throws IOException;
  }

  /** Takes the next bytes of a tensor, from the buffer's position to its limit. */
  public interface Sink {
    void append(ByteBuffer bytes) throws IOException;
  }

  private record Announced(
      String name, TensorType type, long[] shape, long bytes, Content content) {}

  private final List<Announced> tensors = new ArrayList<>();
  private final Map<String, String> metadata = new TreeMap<>();

  public SafetensorsWriter metadata(String key, String value) {
    metadata.put(key, value);
    return this;
  }

  /** Announces a tensor whose content gives exactly the bytes that its type and shape need. */
  public SafetensorsWriter tensor(String name, TensorType type, long[] shape, Content content) {
    if (name.startsWith("__") || tensors.stream().anyMatch(other -> other.name.equals(name))) {
      throw new IllegalArgumentException("a tensor cannot be named '" + name + "' (again)");
    }
    long bytes = type.bytes();
    for (long dimension : shape) {
      bytes = Math.multiplyExact(bytes, dimension);
    }
    tensors.add(new Announced(name, type, shape.clone(), bytes, content));
    return this;
  }

  /** A matrix {@code [rows, columns]}, rounded to {@code dtype}. */
  public SafetensorsWriter matrix(String name, DType dtype, Workspace workspace, Matrix matrix) {
    long[] shape = {matrix.rows(), matrix.columns()};
    return tensor(name, TensorType.of(dtype), shape, encoded(dtype, workspace, matrix));
  }

  /** A matrix of one row as a tensor of one dimension, {@code [columns]}. */
  public SafetensorsWriter vector(String name, DType dtype, Workspace workspace, Matrix row) {
    if (row.rows() != 1) {
      throw new IllegalArgumentException("'" + name + "' has " + row.rows() + " rows, not one");
    }
    long[] shape = {row.columns()};
    return tensor(name, TensorType.of(dtype), shape, encoded(dtype, workspace, row));
  }

  private static Content encoded(DType dtype, Workspace workspace, Matrix matrix) {
    return sink -> {
      long rowBytes = (long) matrix.columns() * dtype.bytes();
      if (rowBytes == 0) {
        return;
      }
      int chunkRows = (int) Math.min(matrix.rows(), Math.max(1, CHUNK_BYTES / rowBytes));
      ByteBuffer buffer = buffer(Math.toIntExact(chunkRows * rowBytes));
      for (int row = 0, end; row < matrix.rows(); row = end) {
        end = row + Math.min(chunkRows, matrix.rows() - row);
        workspace.encode(matrix.rows(row, end), dtype, buffer.clear());
        sink.append(buffer.flip());
      }
    };
  }

  /** {@code F32} values. */
  public SafetensorsWriter floats(String name, float[] values, long... shape) {
    Content content =
        sink -> {
          ByteBuffer buffer = buffer(CHUNK_BYTES);
          int chunk = CHUNK_BYTES / Float.BYTES;
          for (int from = 0, count; from < values.length; from += count) {
            count = Math.min(chunk, values.length - from);
            buffer.clear().asFloatBuffer().put(values, from, count);
            sink.append(buffer.limit(count * Float.BYTES));
          }
        };
    return tensor(name, TensorType.F32, shape, content);
  }

  /** {@code I64} values. */
  public SafetensorsWriter longs(String name, long[] values, long... shape) {
    Content content =
        sink -> {
          ByteBuffer buffer = buffer(CHUNK_BYTES);
          int chunk = CHUNK_BYTES / Long.BYTES;
          for (int from = 0, count; from < values.length; from += count) {
            count = Math.min(chunk, values.length - from);
            buffer.clear().asLongBuffer().put(values, from, count);
            sink.append(buffer.limit(count * Long.BYTES));
          }
        };
    return tensor(name, TensorType.I64, shape, content);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Writes all announced tensors to {@code path}, whose folder must exist. */
  public AtomicFile.Written write(Path path) throws IOException {
    tensors.sort(
        Comparator.comparingInt((Announced tensor) -> -tensor.type.bytes())
            .thenComparing(Announced::name));
    try (AtomicFile file = AtomicFile.create(path)) {
      byte[] header = header();
      file.append(buffer(SafetensorsFile.PREFIX_BYTES).putLong(header.length).flip());
      file.append(ByteBuffer.wrap(header));
      for (Announced tensor : tensors) {
        long before = file.bytes();
        tensor.content.writeTo(file::append);
        if (file.bytes() - before != tensor.bytes) {
          throw new IllegalStateException(
              "tensor '%s' %s gave %d bytes instead of %d"
                  .formatted(
                      tensor.name,
                      Arrays.toString(tensor.shape),
                      file.bytes() - before,
                      tensor.bytes));
        }
      }
      return file.commit();
    }
  }

  /** The JSON header, padded with spaces so that the data begins aligned. */
  private byte[] header() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = new JsonFactory().createGenerator(bytes)) {
      json.writeStartObject();
      if (!metadata.isEmpty()) {
        json.writeObjectFieldStart("__metadata__");
        for (Map.Entry<String, String> entry : metadata.entrySet()) {
          json.writeStringField(entry.getKey(), entry.getValue());
        }
        json.writeEndObject();
      }
      long offset = 0;
      for (Announced tensor : tensors) {
        json.writeObjectFieldStart(tensor.name);
        json.writeStringField("dtype", tensor.type.name());
        json.writeFieldName("shape");
        json.writeArray(tensor.shape, 0, tensor.shape.length);
        json.writeFieldName("data_offsets");
        json.writeArray(new long[] {offset, offset + tensor.bytes}, 0, 2);
        json.writeEndObject();
        offset += tensor.bytes;
      }
      json.writeEndObject();
    }
    int padding = -bytes.size() & (ALIGNMENT - 1);
    bytes.write(" ".repeat(padding).getBytes(StandardCharsets.US_ASCII));
    return bytes.toByteArray();
  }
}
