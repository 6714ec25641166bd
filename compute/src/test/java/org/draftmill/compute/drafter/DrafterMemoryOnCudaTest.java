package org.draftmill.compute.drafter;

import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.CudaEmulator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a drafter takes of a GPU's memory is what is said before it is opened. */
@ExtendWith(CudaEmulator.class)
class DrafterMemoryOnCudaTest {
  @Test
  void theEstimateHoldsWhereWeightsAreTheLargestPart() {
    DrafterMemoryTest.requireFit(CudaBackend.NAME);
  }
}
