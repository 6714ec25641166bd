package org.draftmill.operators.drafter.rendezvous;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;
import org.apache.flink.util.InstantiationUtil;
import org.draftmill.operators.drafter.collective.Membership;

/**
 * The answer to a {@link Registration}. It travels in a response of Flink's own, for the RPC
 * between processes does not know the classes of a job.
 *
 * @param group when all have come; empty if not yet
 * @param missing the members that had not come when the registration did
 */
public record GroupAnswer(Optional<Membership> group, List<Integer> missing) {

  CoordinationResponse pack() {
    String version = missing.stream().map(String::valueOf).collect(Collectors.joining(","));
    try {
      if (group.isEmpty()) {
        return new CollectCoordinationResponse(version, 0, List.of());
      }
      DataOutputSerializer out = new DataOutputSerializer(1024);
      BytePrimitiveArraySerializer.INSTANCE.serialize(
          InstantiationUtil.serializeObject(group.get()), out);
      return new CollectCoordinationResponse(version, 0, List.of(out.getCopyOfBuffer()));
    } catch (IOException e) {
      throw new IllegalStateException("A group can be written.", e);
    }
  }

  /** Unpacks what the coordinator answered. */
  public static GroupAnswer unpack(CoordinationResponse response) throws IOException {
    CollectCoordinationResponse answer = (CollectCoordinationResponse) response;
    List<Integer> missing =
        Stream.of(answer.getVersion().split(","))
            .filter(rank -> !rank.isEmpty())
            .map(Integer::valueOf)
            .toList();
    List<byte[]> results = answer.getResults(BytePrimitiveArraySerializer.INSTANCE);
    return new GroupAnswer(
        results.isEmpty() ? Optional.empty() : Optional.of(membership(results.get(0))), missing);
  }

  private static Membership membership(byte[] bytes) throws IOException {
    try {
      return InstantiationUtil.deserializeObject(bytes, Membership.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IOException("The coordinator answers with another build of this job.", e);
    }
  }
}
