package org.draftmill.operators.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.cuda.MatrixProducts;
import org.junit.jupiter.api.Test;

class GpuProductsTest {
  private static Configuration with(String products) {
    return Configuration.fromMap(Map.of("run.products", products));
  }

  @Test
  void onlyWhatIsNamedIsTheLibrary() {
    assertThat(GpuProducts.of(new Configuration())).isEqualTo(MatrixProducts.OWN);
    assertThat(GpuProducts.of(with("auto"))).isEqualTo(MatrixProducts.OWN);
    assertThat(GpuProducts.of(with("own"))).isEqualTo(MatrixProducts.OWN);
    assertThat(GpuProducts.of(with("cublas"))).isEqualTo(MatrixProducts.CUBLAS);
    assertThatThrownBy(() -> GpuProducts.of(with("mkl")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("run.products");
  }

  @Test
  void aRunOnThisMachineTakesWhatIsHere() {
    assumeThat(CudaBackend.usable()).as("a CUDA driver").isFalse();
    Configuration options = new Configuration();
    GpuProducts.settle(options);
    assertThat(options.get(GpuProducts.OPTION)).isEqualTo(MatrixProducts.OWN);
    Configuration named = with("cublas");
    GpuProducts.settle(named);
    assertThat(named.get(GpuProducts.OPTION)).isEqualTo(MatrixProducts.CUBLAS);
  }
}
