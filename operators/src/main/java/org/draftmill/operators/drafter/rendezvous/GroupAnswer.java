package org.draftmill.operators.drafter.rendezvous;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;
import org.apache.flink.util.InstantiationUtil;
import org.draftmill.operators.drafter.collective.Membership;

/**
 * The answer to a {@link Registration}: the group, or nothing yet. It travels in a response of
 * Flink's own, for the RPC between processes does not know the classes of a job.
 */
public final class GroupAnswer {
  private GroupAnswer() {}

  static CoordinationResponse pack(Optional<Membership> group) {
    try {
      if (group.isEmpty()) {
        return new CollectCoordinationResponse("", 0, List.of());
      }
      DataOutputSerializer out = new DataOutputSerializer(1024);
      BytePrimitiveArraySerializer.INSTANCE.serialize(
          InstantiationUtil.serializeObject(group.get()), out);
      return new CollectCoordinationResponse("", 0, List.of(out.getCopyOfBuffer()));
    } catch (IOException e) {
      throw new IllegalStateException("A group can be written.", e);
    }
  }

  /** Unpacks what the coordinator answered. */
  public static Optional<Membership> unpack(CoordinationResponse response) throws IOException {
    List<byte[]> results =
        ((CollectCoordinationResponse) response).getResults(BytePrimitiveArraySerializer.INSTANCE);
    if (results.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          InstantiationUtil.deserializeObject(results.get(0), Membership.class.getClassLoader()));
    } catch (ClassNotFoundException e) {
      throw new IOException("The coordinator answers with another build of this job.", e);
    }
  }
}
