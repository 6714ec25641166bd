/** What all stages think of a failure: whether the next attempt may fare better. */
package org.draftmill.operators.restart;
