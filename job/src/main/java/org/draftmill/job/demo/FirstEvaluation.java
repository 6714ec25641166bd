package org.draftmill.job.demo;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * How well the untrained drafter did: {@code evaluation-before.json}, so that a demo which goes on
 * need not measure it again.
 *
 * @param drafter its shape and seed; the figures are of no other
 * @param acceptance pooled acceptance length
 * @param greedyEqual whether speculative output was the target's own
 */
record FirstEvaluation(String drafter, double acceptance, boolean greedyEqual) {
  static final String FILE = "evaluation-before.json";

  /** Empty if there is none of this drafter. */
  static Optional<FirstEvaluation> read(Path file, String drafter) throws IOException {
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(json().readValue(file.toFile(), FirstEvaluation.class))
          .filter(found -> drafter.equals(found.drafter()));
    } catch (JacksonException e) {
      return Optional.empty(); // measured again and written anew
    }
  }

  /** Writes the file whole or not at all. */
  void write(Path file) throws IOException {
    Path unfinished = file.resolveSibling(file.getFileName() + ".tmp");
    Files.writeString(unfinished, json().writeValueAsString(this) + "\n");
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static ObjectMapper json() {
    return new ObjectMapper()
        .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .enable(SerializationFeature.INDENT_OUTPUT);
  }
}
