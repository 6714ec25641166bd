package org.draftmill.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.draftmill.compute.ops.Backend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackendsTest {

  @ParameterizedTest
  @CsvSource({"reference, reference", "cpu, cpu", "auto, cpu"})
  void opensByName(String name, String expected) {
    try (Backend backend = Backends.open(name, 2)) {
      assertThat(backend.name()).isEqualTo(expected);
    }
  }

  @Test
  void anUnknownNameIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> Backends.open("tpu", 1))
        .isInstanceOf(InputException.class)
        .hasMessage("Unknown device 'tpu'; known are reference, cpu, cuda and auto.");
  }

  @Test
  void noThreadIsTooFewAndMoreThanAnyMachineHasTooMany() {
    assertThatThrownBy(() -> Backends.open("cpu", 0))
        .isInstanceOf(InputException.class)
        .hasMessage("A backend needs at least one thread, found 0.");
    assertThatThrownBy(() -> Backends.open("cpu", 100_000))
        .isInstanceOf(InputException.class)
        .hasMessage("A backend takes at most 4096 threads, found 100000.");
  }
}
