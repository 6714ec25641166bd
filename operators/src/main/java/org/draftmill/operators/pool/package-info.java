/**
 * The third stage: holds hidden states until enough are there to mix, and gives each microbatch, in
 * an order that does not depend on the timing, to whichever drafter asks.
 */
package org.draftmill.operators.pool;
