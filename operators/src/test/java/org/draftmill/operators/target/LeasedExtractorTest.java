package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.draftmill.compute.cuda.MatrixProducts;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.GpuClaim;
import org.draftmill.serializers.HiddenDType;
import org.junit.jupiter.api.Test;

class LeasedExtractorTest {
  private static final GpuClaim CLAIM = new GpuClaim("this test", List.of("leased-extractor-test"));
  private static final TargetSettings SETTINGS =
      new TargetSettings(
          "model",
          "dataset",
          "auto",
          1,
          MatrixProducts.OWN,
          List.of(1),
          true,
          HiddenDType.FLOAT32,
          4 << 10,
          0,
          Duration.ofMinutes(1));

  private final DeviceLease lease = DeviceLease.take("auto", CLAIM);

  @Test
  void theDeviceGoesBackAfterTheModel() throws IOException {
    TestingExtractor model = new TestingExtractor();
    AtomicReference<Optional<String>> leasedMeanwhile = new AtomicReference<>();
    model.onClose = () -> leasedMeanwhile.set(lease.gpu());

    LeasedExtractor.open((settings, device) -> model, SETTINGS, lease).close();

    assertThat(model.closed).isTrue();
    assertThat(leasedMeanwhile.get()).contains("leased-extractor-test");
    assertThat(lease.gpu()).isEmpty();
  }

  @Test
  void theDeviceGoesBackThoughTheModelCannotBeOpenedOrClosed() throws IOException {
    assertThatThrownBy(
            () ->
                LeasedExtractor.open(
                    (settings, device) -> {
                      throw new OutOfMemoryError("This failure is part of the test.");
                    },
                    SETTINGS,
                    lease))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(lease.gpu()).isEmpty();

    DeviceLease again = DeviceLease.take("auto", CLAIM);
    TestingExtractor model = new TestingExtractor();
    model.onClose =
        () -> {
          throw new IllegalStateException("This failure is part of the test.");
        };
    LeasedExtractor extractor = LeasedExtractor.open((settings, device) -> model, SETTINGS, again);
    assertThatThrownBy(extractor::close).isInstanceOf(IllegalStateException.class);
    assertThat(again.gpu()).isEmpty();
  }
}
