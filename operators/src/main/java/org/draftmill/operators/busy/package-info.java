/** What Flink shows of a task whose work is done by other threads than its own. */
package org.draftmill.operators.busy;
