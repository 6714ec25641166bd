package org.draftmill.operators.pool;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;

/**
 * The answer to a {@link Poll}.
 *
 * @param gate the gate as it stands
 * @param demand the demand to serve with the release that was offered
 */
public record Answer(Gate gate, Optional<Demand> demand) {

  static Answer nothing(Gate gate) {
    return new Answer(gate, Optional.empty());
  }

  /**
   * Packs this answer into a response of Flink's own: a response passes the RPC between processes,
   * which does not know the classes of a job.
   */
  CoordinationResponse toResponse() {
    LongStream gateFields =
        LongStream.of(gate.openStep(), gate.aligned() ? 1 : 0, gate.supplied() ? 1 : 0);
    LongStream demandFields =
        demand
            .map(d -> LongStream.of(d.drafter(), d.attempt(), d.sequence()))
            .orElse(LongStream.empty());
    List<byte[]> fields =
        LongStream.concat(gateFields, demandFields)
            .mapToObj(field -> ByteBuffer.allocate(Long.BYTES).putLong(field).array())
            .toList();
    return new CollectCoordinationResponse("", 0, fields);
  }

  /** Unpacks what {@link #toResponse} packed. */
  static Answer from(CoordinationResponse response) throws IOException {
    List<Long> fields =
        ((CollectCoordinationResponse) response).getResults(LongSerializer.INSTANCE);
    Gate gate = new Gate(fields.get(0), fields.get(1) != 0, fields.get(2) != 0);
    return fields.size() == 3
        ? nothing(gate)
        : new Answer(
            gate,
            Optional.of(
                new Demand(
                    Math.toIntExact(fields.get(3)),
                    Math.toIntExact(fields.get(4)),
                    fields.get(5))));
  }
}
