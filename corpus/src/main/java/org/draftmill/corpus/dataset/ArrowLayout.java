package org.draftmill.corpus.dataset;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.draftmill.corpus.InputException;

/**
 * Finds where in an Arrow file the two columns lie, without reading them.
 *
 * <p>Both forms of Arrow IPC are understood: the file form, whose footer lists the batches ({@code
 * "ARROW1", padding, messages, footer, footer length (4), "ARROW1"}), and the stream form, a run of
 * messages ({@code 0xFFFFFFFF, metadata length (4), metadata, body}) that ends with the file or
 * with a metadata length of zero.
 */
final class ArrowLayout {
  private static final byte[] MAGIC = "ARROW1".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] PARQUET_MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  private static final int CONTINUATION = 0xFFFFFFFF;

  private final MappedFile file;
  private final List<ShardBatch> batches = new ArrayList<>();
  private final Map<String, String> metadata = new TreeMap<>();
  private ColumnFinder columns;
  private long rows;
  private long place; // in the file, of what is being read

  private ArrowLayout(MappedFile file) {
    this.file = file;
  }

  /**
   * Reads the metadata of a file.
   *
   * @throws InputException if it is no Arrow file, is damaged, or lacks the columns
   */
  static ArrowLayout of(MappedFile file) {
    ArrowLayout layout = new ArrowLayout(file);
    try {
      layout.read();
    } catch (IndexOutOfBoundsException
        | IllegalArgumentException
        | NegativeArraySizeException
        | NullPointerException e) {
      // Arrow's metadata are flatbuffers: a damaged offset points anywhere.
      throw layout.damaged("its metadata cannot be followed", e);
    }
    return layout;
  }

  /** The record batches in order. */
  List<ShardBatch> batches() {
    return batches;
  }

  /** Key-value metadata of the footer. */
  Map<String, String> metadata() {
    return metadata;
  }

  private void read() {
    if (startsWith(PARQUET_MAGIC)) {
      throw new InputException(
          "%s is a Parquet file; export it as Arrow, for instance in Python: import pyarrow.parquet, pyarrow.feather; pyarrow.feather.write_feather(pyarrow.parquet.read_table('in.parquet', columns=['input_ids', 'loss_mask']), 'out.arrow', compression='uncompressed')."
              .formatted(file.path()));
    }
    if (startsWith(MAGIC)) {
      readFileForm();
    } else if (file.length() >= 8 && file.intAt(0) == CONTINUATION) {
      readStreamForm();
    } else {
      throw new InputException(
          file.path()
              + " is no Arrow file: it begins neither with ARROW1 nor with an Arrow message.");
    }
  }

  private boolean startsWith(byte[] magic) {
    return file.length() >= magic.length && Arrays.equals(magic, copy(0, magic.length));
  }

  private void readFileForm() {
    int trailer = 4 + MAGIC.length;
    place = file.length() - trailer;
    if (place < 8 || !Arrays.equals(MAGIC, copy(place + 4, MAGIC.length))) {
      throw damaged("it does not end with ARROW1, so it was cut short", null);
    }
    int footerBytes = file.intAt(place);
    if (footerBytes <= 0 || footerBytes > place - 8) {
      throw damaged("its footer claims " + footerBytes + " bytes", null);
    }
    place -= footerBytes;
    Footer footer = Footer.getRootAsFooter(metadata(place, footerBytes));
    for (int i = 0; i < footer.customMetadataLength(); i++) {
      KeyValue entry = footer.customMetadata(i);
      metadata.put(entry.key(), entry.value());
    }
    setSchema(footer.schema());
    for (int i = 0; i < footer.recordBatchesLength(); i++) {
      Block block = footer.recordBatches(i);
      place = block.offset();
      addMessage(block.offset(), block.metaDataLength(), block.bodyLength());
    }
  }

  private void readStreamForm() {
    place = 0;
    while (place + 8 <= file.length()) {
      if (file.intAt(place) != CONTINUATION) {
        throw damaged("no Arrow message begins there", null);
      }
      int metadataBytes = file.intAt(place + 4);
      if (metadataBytes == 0) {
        break;
      }
      if (metadataBytes < 0 || metadataBytes > file.length() - place - 8) {
        throw damaged("a message claims " + metadataBytes + " bytes of metadata", null);
      }
      Message message = Message.getRootAsMessage(metadata(place + 8, metadataBytes));
      long next = place + 8 + metadataBytes + message.bodyLength();
      if (message.bodyLength() < 0 || next > file.length()) {
        throw damaged(
            "a message of %d bytes reaches past the end of the file"
                .formatted(8 + metadataBytes + message.bodyLength()),
            null);
      }
      if (message.headerType() == MessageHeader.Schema) {
        setSchema((Schema) message.header(new Schema()));
      } else if (message.headerType() == MessageHeader.RecordBatch) {
        addMessage(place, 8 + metadataBytes, message.bodyLength());
      }
      place = next;
    }
    if (columns == null) {
      throw damaged("it ends without a schema", null);
    }
  }

  private void setSchema(Schema schema) {
    if (schema == null) {
      throw damaged("it has no schema", null);
    }
    columns = new ColumnFinder(file, schema);
  }

  /** Adds the record batch whose message starts at {@code offset}. */
  private void addMessage(long offset, int metadataBytes, long bodyBytes) {
    if (offset < 0
        || metadataBytes < 8
        || bodyBytes < 0
        || bodyBytes > file.length()
        || offset > file.length() - metadataBytes - bodyBytes) {
      throw damaged(
          "a record batch of %d + %d bytes reaches past the end of the file"
              .formatted(metadataBytes, bodyBytes),
          null);
    }
    if (columns == null) {
      throw damaged("a record batch comes before the schema", null);
    }
    // Files older than Arrow 0.15 have no continuation marker before the length.
    int prefix = file.intAt(offset) == CONTINUATION ? 8 : 4;
    Message message = Message.getRootAsMessage(metadata(offset + prefix, metadataBytes - prefix));
    if (message.headerType() != MessageHeader.RecordBatch) {
      throw damaged("no record batch is there", null);
    }
    RecordBatch batch = (RecordBatch) message.header(new RecordBatch());
    ShardBatch found = columns.find(batch, rows, offset + metadataBytes, bodyBytes);
    batches.add(found);
    rows += found.rows();
  }

  private ByteBuffer metadata(long position, int bytes) {
    return ByteBuffer.wrap(copy(position, bytes)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private byte[] copy(long position, int bytes) {
    byte[] copy = new byte[bytes];
    file.bytes(position, copy);
    return copy;
  }

  private InputException damaged(String what, RuntimeException cause) {
    return new InputException(
        "The Arrow file %s is damaged: at byte %d %s.".formatted(file.path(), place, what), cause);
  }
}
