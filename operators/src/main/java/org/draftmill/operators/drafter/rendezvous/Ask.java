package org.draftmill.operators.drafter.rendezvous;

import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * A drafter asks for one microbatch.
 *
 * @param sequence number of the demand within the attempt, rising
 */
public record Ask(long sequence) implements OperatorEvent {}
