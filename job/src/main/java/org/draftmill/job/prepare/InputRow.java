package org.draftmill.job.prepare;

/**
 * A row of an input file, or the mark behind the last row of a range.
 *
 * @param range number of the range, in input order
 * @param number of the row within its range, from 0; for the end mark the number of rows
 * @param content a line without its end as UTF-8 bytes, or {@code TokenizedSequence}; null for an
 *     end mark and for a line that is longer than {@link LineReader#MAX_LINE_BYTES}
 * @param end whether this is the mark behind the range's last row
 */
record InputRow(int range, long number, Object content, boolean end) {
  static InputRow of(int range, long number, Object content) {
    return new InputRow(range, number, content, false);
  }

  static InputRow end(int range, long rows) {
    return new InputRow(range, rows, null, true);
  }
}
