package org.draftmill.operators.pool;

import java.util.List;
import org.draftmill.serializers.StepMarker;

/**
 * Where a shard stands.
 *
 * @param shard its index
 * @param step the step it is releasing
 * @param released its releases in all
 * @param places see {@link ReleasePolicy#places()}
 * @param releasedOfStep its releases of the step so far
 */
record ShardState(
    int shard, long step, long released, long[] places, List<StepMarker.Release> releasedOfStep) {}
