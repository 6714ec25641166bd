package org.draftmill.compute.drafter;

/**
 * What a drafter's device has spent on its work, in seconds; work that is not yet done is in a
 * later answer. On a host these are the times that the calls took.
 *
 * @param forward layers and vocabulary head
 * @param backward gradients, and adding them up
 * @param optimizer norm, AdamW, arranging the new weights
 */
public record DeviceSeconds(double forward, double backward, double optimizer) {}
