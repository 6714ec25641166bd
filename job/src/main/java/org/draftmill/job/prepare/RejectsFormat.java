package org.draftmill.job.prepare;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.flink.api.common.serialization.Encoder;

/**
 * Rejected rows as JSON lines: with the range while the job runs, with file and line in the
 * dataset's {@code rejects.jsonl}.
 */
final class RejectsFormat implements Encoder<RejectedRow> {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Override
  public void encode(RejectedRow row, OutputStream out) throws IOException {
    ObjectNode line = JSON.createObjectNode().put("range", row.range()).put("number", row.number());
    if (row.reason() != null) {
      line.put("reason", row.reason()).put("detail", row.detail());
    }
    write(line, out);
  }

  static RejectedRow decode(String line) throws IOException {
    JsonNode row = JSON.readTree(line);
    return new RejectedRow(
        row.path("range").asInt(),
        false,
        row.path("number").asLong(),
        row.path("reason").asText(null),
        row.path("detail").asText(null));
  }

  /**
   * @param line of the file, from 1
   */
  static void writeFinal(RejectedRow row, String file, long line, OutputStream out)
      throws IOException {
    write(
        JSON.createObjectNode()
            .put("file", file)
            .put("line", line)
            .put("reason", row.reason())
            .put("detail", row.detail()),
        out);
  }

  private static void write(ObjectNode line, OutputStream out) throws IOException {
    out.write(JSON.writeValueAsString(line).getBytes(StandardCharsets.UTF_8));
    out.write('\n');
  }
}
