/**
 * The second stage: the frozen target reads a job and gives its hidden states, in chunks. Preparing
 * a job, the forward pass of the one before and packing the one before that run side by side.
 */
package org.draftmill.operators.target;
