/** Which device of its process a subtask computes on. */
package org.draftmill.operators.gpu;
