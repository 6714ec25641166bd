package org.draftmill.job.prepare;

/** Something that came from a range of the input; what one range gives goes into one file. */
interface Ranged {
  int range();

  /** Whether it is the first of its range, which begins a file. */
  boolean first();
}
