/** Which device of its process a subtask computes on, and who else computes in that process. */
package org.draftmill.operators.gpu;
