/** NVIDIA GPUs, through the CUDA driver alone; docs/cuda.md. */
package org.draftmill.compute.cuda;
