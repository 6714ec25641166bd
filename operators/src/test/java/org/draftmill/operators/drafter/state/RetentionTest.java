package org.draftmill.operators.drafter.state;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RetentionTest {
  @Test
  void keepsOneMoreThanTheRunRetains() {
    Retention retention = new Retention(2);
    assertThat(retention.completed(5)).isEmpty();
    assertThat(retention.completed(6)).isEmpty();
    assertThat(retention.completed(9)).hasValue(5);
    assertThat(retention.completed(10)).hasValue(6);
    assertThat(retention.completed(11)).hasValue(9);
  }
}
