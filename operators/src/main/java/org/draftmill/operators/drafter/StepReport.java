package org.draftmill.operators.drafter;

import java.util.List;
import org.draftmill.compute.drafter.StepFigures;
import org.draftmill.serializers.StepMarker;

/**
 * A step that all drafters have taken.
 *
 * @param figures the same on every drafter but for the seconds
 * @param markers of all shards, by shard: which jobs were in it
 * @param seconds of this drafter alone
 * @param secondsOfAll drafters added up
 * @param wallSeconds from the end of the last step on this drafter
 */
record StepReport(
    StepFigures figures,
    List<StepMarker> markers,
    StageSeconds seconds,
    StageSeconds secondsOfAll,
    double wallSeconds) {}
