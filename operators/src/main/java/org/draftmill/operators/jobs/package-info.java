/**
 * The first stage: one list of jobs, handed out in its order, one at a time, to whichever target
 * asks.
 */
package org.draftmill.operators.jobs;
