package org.draftmill.job.prepare;

import org.draftmill.corpus.TokenizedSequence;

/** A sequence of the dataset. */
record PreparedRow(int range, boolean first, TokenizedSequence sequence) implements Ranged {}
