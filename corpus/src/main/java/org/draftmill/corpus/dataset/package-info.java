/** The dataset on disk: Arrow IPC shards beside a {@code dataset.json}. */
package org.draftmill.corpus.dataset;
