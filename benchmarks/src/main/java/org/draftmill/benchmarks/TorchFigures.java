package org.draftmill.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;

/** What {@code benchmarks/torch_models.py} measured on the same machine, if it did. */
final class TorchFigures {
  private final JsonNode figures;

  private TorchFigures(JsonNode figures) {
    this.figures = figures;
  }

  /** Reads its file beside the other results. */
  static TorchFigures read() throws IOException {
    Path file = Path.of(System.getProperty(Results.FOLDER, "benchmarks/results"), "torch.json");
    if (!Files.exists(file)) {
      System.out.println("  " + file + " is not there: PyTorch is left out");
      return new TorchFigures(new ObjectMapper().createObjectNode());
    }
    return new TorchFigures(new ObjectMapper().readTree(file.toFile()).path("figures"));
  }

  private OptionalDouble get(String name) {
    JsonNode value = figures.get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value.asDouble());
  }

  /**
   * Adds the share that {@code value} is of PyTorch's figure {@code of}, and what it should be;
   * nothing if PyTorch did not measure.
   */
  void share(Results results, String name, double value, String of, double goal) {
    get(of)
        .ifPresent(
            torch -> {
              results.figure(name, value / torch);
              results.atLeast(name, goal);
            });
  }
}
