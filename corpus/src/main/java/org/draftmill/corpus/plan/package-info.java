/**
 * From the lengths of a dataset to the job lists of its epochs: shuffled indices, length buckets,
 * batches under a token budget, one shuffled linear list.
 */
package org.draftmill.corpus.plan;
