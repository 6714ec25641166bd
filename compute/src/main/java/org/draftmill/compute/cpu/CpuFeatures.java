package org.draftmill.compute.cpu;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/** What the virtual machine knows of the processor. */
final class CpuFeatures {
  private CpuFeatures() {}

  /**
   * Whether {@link Math#fma} is an instruction; where it is none it is hundreds of times slower.
   */
  static boolean fusedMultiplyAdd() {
    return !"false".equals(option("UseFMA"));
  }

  /** 32 with AVX-512 and on ARM, 16 on other x86. */
  static int vectorRegisters() {
    String avx = option("UseAVX");
    return avx.isEmpty() || Integer.parseInt(avx) >= 3 ? 32 : 16;
  }

  /** The value of a HotSpot flag, or an empty string where it is not known. */
  private static String option(String name) {
    try {
      return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .getVMOption(name)
          .getValue();
    } catch (IllegalArgumentException | NullPointerException notHotSpotOrNotThisProcessor) {
      return "";
    }
  }
}
