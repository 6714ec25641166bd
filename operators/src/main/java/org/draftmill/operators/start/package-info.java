/** The clock of a task that begins. */
package org.draftmill.operators.start;
