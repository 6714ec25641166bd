package org.draftmill.operators.pool;

/**
 * One drafter's wish for one microbatch.
 *
 * @param drafter index of the drafter's subtask
 * @param attempt attempt number of that subtask; a newer one makes the older one's demands void
 * @param sequence number of the demand within the attempt, rising from demand to demand
 */
public record Demand(int drafter, int attempt, long sequence) {}
