package org.draftmill.operators.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.draftmill.operators.drafter.TestingDeliveries.marker;
import static org.draftmill.operators.drafter.TestingDeliveries.microbatch;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.serializers.StepMarker;
import org.junit.jupiter.api.Test;

class StepInboxTest implements StepInbox.Receiver {
  private final List<String> received = new ArrayList<>();

  @Override
  public void train(ReceivedMicrobatch microbatch) {
    received.add("train " + microbatch.job().position());
  }

  @Override
  public void step(long step, List<StepMarker> markers) {
    assertThat(markers).extracting(StepMarker::step).containsOnly(step);
    received.add("step " + step + " of " + markers.size());
  }

  @Test
  void aStepGoesOnWhenTheMarkersOfAllShardsAreIn() {
    StepInbox inbox = new StepInbox(2, 4, List.of(), this);
    inbox.add(microbatch(4, 1));
    inbox.add(marker(4, 1, 1));
    inbox.add(microbatch(4, 2));
    assertThat(inbox.seen()).containsExactly(marker(4, 1, 1));
    inbox.add(marker(4, 0, 2));
    assertThat(inbox.openStep()).isEqualTo(5);
    assertThat(inbox.seen()).isEmpty();
    assertThat(received).containsExactly("train 1", "train 2", "step 4 of 2");
  }

  @Test
  void aMicrobatchOfTheNextStepWaitsForThisOne() {
    StepInbox inbox = new StepInbox(2, 0, List.of(), this);
    inbox.add(marker(0, 0, 1));
    inbox.add(microbatch(1, 7));
    assertThat(inbox.early()).isEqualTo(1);
    assertThat(received).isEmpty();
    inbox.add(marker(0, 1, 2));
    assertThat(inbox.early()).isZero();
    assertThat(received).containsExactly("step 0 of 2", "train 7");
  }

  @Test
  void anotherSubtaskOfThePoolMayBeStepsAhead() {
    StepInbox inbox = new StepInbox(2, 0, List.of(), this);
    inbox.add(marker(0, 0));
    inbox.add(marker(1, 0, 7));
    inbox.add(microbatch(2, 8));
    inbox.add(marker(2, 0, 8));
    inbox.add(marker(0, 1));
    assertThat(received).containsExactly("step 0 of 2");
    inbox.add(microbatch(1, 9));
    inbox.add(marker(1, 1, 9));
    assertThat(received).containsExactly("step 0 of 2", "train 9", "step 1 of 2", "train 8");
    assertThat(inbox.seen()).containsExactly(marker(2, 0, 8));
  }

  @Test
  void markersFromBeforeACheckpointCount() {
    StepInbox inbox = new StepInbox(2, 3, List.of(marker(3, 0, 5)), this);
    inbox.add(marker(3, 1));
    assertThat(received).containsExactly("step 3 of 2");
  }

  @Test
  void whatCannotBeIsRefused() {
    StepInbox inbox = new StepInbox(2, 3, List.of(), this);
    assertThatThrownBy(() -> inbox.add(microbatch(2, 5)))
        .hasMessageContaining("belongs to step 2, but step 3 is open");
    assertThatThrownBy(() -> inbox.add(marker(2, 0)))
        .hasMessageContaining("came while step 3 of 2 shards was open");
    assertThatThrownBy(() -> inbox.add(marker(3, 2)))
        .hasMessageContaining("came while step 3 of 2 shards was open");
    inbox.add(marker(3, 0));
    assertThatThrownBy(() -> inbox.add(marker(3, 0))).hasMessageContaining("came twice");
  }
}
