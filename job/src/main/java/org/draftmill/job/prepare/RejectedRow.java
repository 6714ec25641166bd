package org.draftmill.job.prepare;

/**
 * A row that gave no sequence, or the mark behind the last row of a range.
 *
 * @param number of the row within its range; for the mark the number of rows in the range
 * @param reason why; null for the mark
 * @param detail what exactly was found
 */
record RejectedRow(int range, boolean first, long number, String reason, String detail)
    implements Ranged {
  static RejectedRow end(int range, boolean first, long rows) {
    return new RejectedRow(range, first, rows, null, null);
  }
}
