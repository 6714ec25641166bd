package org.draftmill.corpus.plan;

import java.util.function.LongToIntFunction;
import org.draftmill.corpus.Fingerprint;

/**
 * What a plan must know of a dataset.
 *
 * @param fingerprint names it
 * @param lengths tokens of each sequence, indexed by sequence id; not copied
 * @param supervisedTokens number of tokens with a mask of one in the whole dataset
 * @param supervisedOf the same of one sequence; asked only for sequences that are left out
 */
public record PlanInput(
    Fingerprint fingerprint,
    int[] lengths,
    long supervisedTokens,
    LongToIntFunction supervisedOf) {}
