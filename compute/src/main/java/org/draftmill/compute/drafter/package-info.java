/**
 * The draft model: its shape, forward and backward, the exact training step over any number of
 * drafters, and its files. docs/drafter.md has the formulas and the formats.
 */
package org.draftmill.compute.drafter;
