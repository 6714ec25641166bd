package org.draftmill.operators.drafter;

import org.draftmill.compute.drafter.Microbatch;
import org.draftmill.serializers.JobId;

/**
 * A microbatch with all its chunks.
 *
 * @param step that it belongs to
 */
record ReceivedMicrobatch(long step, JobId job, Microbatch microbatch) {}
