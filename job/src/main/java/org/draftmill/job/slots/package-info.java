/** The task slots and GPUs that a run needs, and whether a cluster has them. */
package org.draftmill.job.slots;
