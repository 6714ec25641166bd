package org.draftmill.operators.drafter.rendezvous;

import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.draftmill.operators.drafter.collective.Membership.Member;

/**
 * A drafter's long poll for its group.
 *
 * @param attempt attempt number of its subtask
 * @param member where it listens
 */
public record Registration(int attempt, Member member) implements CoordinationRequest {}
