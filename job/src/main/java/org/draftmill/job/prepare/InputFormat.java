package org.draftmill.job.prepare;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.IteratorResultIterator;
import org.apache.flink.core.fs.FSDataInputStream;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.dataset.ArrowShardReader;

/** Reads the rows of a range in order, and the end mark behind them. */
final class InputFormat implements BulkFormat<InputRow, FileSourceSplit> {
  private static final int BATCH_ROWS = 256;
  private static final int BATCH_BYTES = 1 << 20;

  private final int maxUnpackRatio;

  /**
   * @param maxUnpackRatio how many times larger than a compressed file its content may be
   */
  InputFormat(int maxUnpackRatio) {
    this.maxUnpackRatio = maxUnpackRatio;
  }

  @Override
  public Reader<InputRow> createReader(Configuration configuration, FileSourceSplit range)
      throws IOException {
    int number = InputRanges.number(range);
    return switch (InputRanges.Kind.of(range.path())) {
      case ARROW -> new ArrowRows(number, Path.of(range.path().toUri().getPath()));
      case LINES -> new LineRows(number, range, lines(range));
      case GZIP_LINES -> new LineRows(number, range, gzipLines(range));
    };
  }

  /** The prepare job is a batch: a range is read again from its beginning. */
  @Override
  public Reader<InputRow> restoreReader(Configuration configuration, FileSourceSplit range)
      throws IOException {
    throw new UnsupportedOperationException("a range is never resumed in its middle");
  }

  @Override
  public boolean isSplittable() {
    return true;
  }

  @Override
  public TypeInformation<InputRow> getProducedType() {
    return TypeInformation.of(InputRow.class);
  }

  private static LineReader lines(FileSourceSplit range) throws IOException {
    FSDataInputStream in = range.path().getFileSystem().open(range.path());
    boolean afterStart = range.offset() > 0;
    in.seek(afterStart ? range.offset() - 1 : 0);
    return new LineReader(in, afterStart, range.length(), LineReader.MAX_LINE_BYTES);
  }

  private LineReader gzipLines(FileSourceSplit range) throws IOException {
    InputStream in = range.path().getFileSystem().open(range.path());
    try {
      return new LineReader(
          UnpackedStream.of(range.path().getPath(), in, maxUnpackRatio),
          false,
          Long.MAX_VALUE,
          LineReader.MAX_LINE_BYTES);
    } catch (ZipException | EOFException e) {
      in.close();
      throw damaged(range, e);
    }
  }

  private static InputException damaged(FileSourceSplit range, IOException e) {
    return new InputException(
        "The input %s cannot be unpacked (%s); is it whole, and is it gzip?"
            .formatted(range.path().getPath(), e.getMessage()),
        e);
  }

  /** Rows in batches; after the last row one batch with the end mark. */
  private abstract static class Rows implements Reader<InputRow> {
    final int range;
    long row;
    private boolean ended;

    Rows(int range) {
      this.range = range;
    }

    /** Adds rows to the batch; none at the end of the range. */
    abstract void fill(List<InputRow> batch) throws IOException;

    @Override
    public final RecordIterator<InputRow> readBatch() throws IOException {
      if (ended) {
        return null;
      }
      List<InputRow> batch = new ArrayList<>();
      fill(batch);
      if (batch.isEmpty()) {
        ended = true;
        batch.add(InputRow.end(range, row));
      }
      return new IteratorResultIterator<>(batch.iterator(), CheckpointedPosition.NO_OFFSET, row);
    }
  }

  private static final class LineRows extends Rows {
    private final FileSourceSplit split;
    private final LineReader lines;

    LineRows(int range, FileSourceSplit split, LineReader lines) {
      super(range);
      this.split = split;
      this.lines = lines;
    }

    @Override
    void fill(List<InputRow> batch) throws IOException {
      int bytes = 0;
      try {
        while (batch.size() < BATCH_ROWS && bytes < BATCH_BYTES && lines.next()) {
          byte[] line = lines.line();
          bytes += line == null ? 0 : line.length;
          batch.add(InputRow.of(range, row++, line));
        }
      } catch (ZipException | EOFException e) {
        throw damaged(split, e);
      }
    }

    @Override
    public void close() throws IOException {
      lines.close();
    }
  }

  private static final class ArrowRows extends Rows {
    private final ArrowShardReader shard;

    ArrowRows(int range, Path file) throws IOException {
      super(range);
      this.shard = ArrowShardReader.open(file);
    }

    @Override
    void fill(List<InputRow> batch) {
      while (batch.size() < BATCH_ROWS && row < shard.rows()) {
        batch.add(InputRow.of(range, row, shard.sequence(row)));
        row++;
      }
    }

    @Override
    public void close() {
      // The mapping goes with the garbage collection.
    }
  }
}
