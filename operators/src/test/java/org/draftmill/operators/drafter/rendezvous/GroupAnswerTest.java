package org.draftmill.operators.drafter.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.util.InstantiationUtil;
import org.draftmill.operators.drafter.collective.Membership;
import org.junit.jupiter.api.Test;

class GroupAnswerTest {
  @Test
  void comesThroughRpcAsAFlinkClass() throws Exception {
    Membership group =
        new Membership(
            UUID.randomUUID(),
            new byte[Membership.SECRET_BYTES],
            List.of(new Membership.Member(0, "host", 17, UUID.randomUUID())));
    CoordinationResponse sent = new GroupAnswer(Optional.of(group), List.of()).pack();
    assertThat(sent.getClass().getName()).startsWith("org.apache.flink.");
    CoordinationResponse received = InstantiationUtil.clone(sent);
    assertThat(GroupAnswer.unpack(received).group()).contains(group);
    assertThat(group.toString()).doesNotContain("secret");
    GroupAnswer nothing = new GroupAnswer(Optional.empty(), List.of(2, 11));
    assertThat(GroupAnswer.unpack(InstantiationUtil.clone(nothing.pack()))).isEqualTo(nothing);
  }
}
