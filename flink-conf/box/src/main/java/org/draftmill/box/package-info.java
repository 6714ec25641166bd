/** A Flink cluster of separate processes on one machine, for newcomers and tests. */
package org.draftmill.box;
