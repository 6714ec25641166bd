package org.draftmill.corpus.dataset;

/**
 * One record batch of a shard.
 *
 * @param firstRow number of rows in the batches before it
 * @param rows number of its rows
 */
record ShardBatch(long firstRow, long rows, ListColumn inputIds, ListColumn lossMask) {}
