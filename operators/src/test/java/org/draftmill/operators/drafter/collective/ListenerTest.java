package org.draftmill.operators.drafter.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class ListenerTest {
  @Test
  void takesAnAddressAsItIsWritten() throws Exception {
    try (Listener listener = Listener.open("127.0.0.1")) {
      assertThat(listener.port()).isPositive();
    }
  }

  /** What a user is told is the last of the causes. */
  @Test
  void aHostThatNobodyKnowsIsNamedWithItsOption() {
    assertThatThrownBy(() -> Listener.open("no-such-host.invalid"))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "Drafters cannot listen at no-such-host.invalid: no host is known by this name."
                + " Set drafter.bind-host to an address of this host.")
        .hasNoCause();
  }

  @Test
  void anAddressOfAnotherHostIsNamedWithItsOption() {
    assertThatThrownBy(() -> Listener.open("192.0.2.1")) // of nobody, by RFC 5737
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("192.0.2.1", "drafter.bind-host")
        .hasNoCause();
  }
}
