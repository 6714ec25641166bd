package org.draftmill.job.prepare;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.rows.EncodedRow;
import org.draftmill.corpus.rows.Rejection;
import org.draftmill.corpus.rows.RejectionReason;
import org.draftmill.corpus.rows.Row;
import org.draftmill.corpus.rows.RowEncoder;
import org.draftmill.corpus.text.TargetText;

/**
 * Turns rows into sequences; what cannot be used, and the number of rows of each range, goes to the
 * side output.
 */
final class EncodeRows extends ProcessFunction<InputRow, PreparedRow> {
  static final OutputTag<RejectedRow> REJECTED =
      new OutputTag<>("rejected", TypeInformation.of(RejectedRow.class));

  private final String target;
  private final int maxLength;
  private final ZonedDateTime now;
  private transient TargetText text;
  private transient RowEncoder encoder;
  private transient int preparedRange;
  private transient int rejectedRange;
  private transient Counter rows;
  private transient Counter tokens;
  private transient Counter rejected;

  /**
   * @param target folder of the model
   * @param maxLength the most tokens of a sequence; 0 for no limit
   * @param now what templates that ask for the time are told, the same everywhere
   */
  EncodeRows(String target, int maxLength, ZonedDateTime now) {
    this.target = target;
    this.maxLength = maxLength;
    this.now = now;
  }

  @Override
  public void open(OpenContext context) throws Exception {
    text = TargetText.load(Path.of(target), now);
    encoder = new RowEncoder(text, maxLength);
    preparedRange = -1;
    rejectedRange = -1;
    MetricGroup group =
        getRuntimeContext().getMetricGroup().addGroup("draftmill").addGroup("prepare");
    rows = group.counter("rows");
    tokens = group.counter("tokens");
    rejected = group.counter("rejected");
  }

  @Override
  public void processElement(InputRow row, Context context, Collector<PreparedRow> out) {
    if (row.end()) {
      context.output(REJECTED, RejectedRow.end(row.range(), firstRejected(row), row.number()));
      return;
    }
    rows.inc();
    EncodedRow encoded = encode(row);
    for (TokenizedSequence sequence : encoded.sequences()) {
      tokens.inc(sequence.length());
      out.collect(new PreparedRow(row.range(), firstPrepared(row), sequence));
    }
    for (Rejection rejection : encoded.rejections()) {
      rejected.inc();
      context.output(
          REJECTED,
          new RejectedRow(
              row.range(),
              firstRejected(row),
              row.number(),
              rejection.reason().option(),
              rejection.detail()));
    }
  }

  private boolean firstPrepared(InputRow row) {
    boolean first = row.range() != preparedRange;
    preparedRange = row.range();
    return first;
  }

  private boolean firstRejected(InputRow row) {
    boolean first = row.range() != rejectedRange;
    rejectedRange = row.range();
    return first;
  }

  private EncodedRow encode(InputRow row) {
    if (row.content() instanceof TokenizedSequence sequence) {
      return encoder.encode(new Row.Tokenized(sequence));
    }
    if (row.content() == null) {
      return malformed("the line is longer than " + LineReader.MAX_LINE_BYTES + " bytes");
    }
    try {
      return encoder.encode(
          StandardCharsets.UTF_8
              .newDecoder()
              .decode(ByteBuffer.wrap((byte[]) row.content()))
              .toString());
    } catch (CharacterCodingException e) {
      return malformed("the line is not UTF-8");
    }
  }

  private EncodedRow malformed(String detail) {
    return encoder.encode(new Rejection(RejectionReason.MALFORMED_JSON, detail));
  }

  @Override
  public void close() {
    if (text != null) {
      text.close();
    }
  }
}
