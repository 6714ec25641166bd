package org.draftmill.operators.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.serializers.HiddenDType;
import org.junit.jupiter.api.Test;

class LeasedExtractorTest {
  private static final ExternalResourceInfo GPU =
      new ExternalResourceInfo() {
        @Override
        public Optional<String> getProperty(String key) {
          return Optional.of("leased-extractor-test");
        }

        @Override
        public Collection<String> getKeys() {
          return List.of("index");
        }
      };
  private static final TargetSettings SETTINGS =
      new TargetSettings(
          "model",
          "dataset",
          "auto",
          1,
          List.of(1),
          true,
          HiddenDType.FLOAT32,
          4 << 10,
          0,
          Duration.ofMinutes(1));

  private final DeviceLease lease = DeviceLease.take("auto", Set.of(GPU));

  @Test
  void theDeviceGoesBackAfterTheModel() throws IOException {
    TestingExtractor model = new TestingExtractor();
    AtomicReference<Optional<String>> leasedMeanwhile = new AtomicReference<>();
    model.onClose = () -> leasedMeanwhile.set(lease.gpu());

    LeasedExtractor.open((settings, backend) -> model, SETTINGS, lease).close();

    assertThat(model.closed).isTrue();
    assertThat(leasedMeanwhile.get()).contains("leased-extractor-test");
    assertThat(lease.gpu()).isEmpty();
  }

  @Test
  void theDeviceGoesBackThoughTheModelCannotBeOpenedOrClosed() throws IOException {
    assertThatThrownBy(
            () ->
                LeasedExtractor.open(
                    (settings, backend) -> {
                      throw new OutOfMemoryError("This failure is part of the test.");
                    },
                    SETTINGS,
                    lease))
        .isInstanceOf(OutOfMemoryError.class);
    assertThat(lease.gpu()).isEmpty();

    DeviceLease again = DeviceLease.take("auto", Set.of(GPU));
    TestingExtractor model = new TestingExtractor();
    model.onClose =
        () -> {
          throw new IllegalStateException("This failure is part of the test.");
        };
    LeasedExtractor extractor = LeasedExtractor.open((settings, backend) -> model, SETTINGS, again);
    assertThatThrownBy(extractor::close).isInstanceOf(IllegalStateException.class);
    assertThat(again.gpu()).isEmpty();
  }
}
