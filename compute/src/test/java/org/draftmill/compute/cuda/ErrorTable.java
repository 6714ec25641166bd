package org.draftmill.compute.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How far operations are from the reference at most, and how long they take on the emulator or the
 * GPU: a table, written where the system property {@value #FILE} says.
 */
final class ErrorTable {
  static final String FILE = "draftmill.table";

  private static final class Row {
    int cases;
    double absolute;
    double ofLargest;
    double seconds;
  }

  private final Map<String, Row> rows = new LinkedHashMap<>();

  /** Adds what a case gave. Cases whose names differ in sizes only make one row. */
  void add(
      String name,
      MatrixProducts products,
      List<float[]> found,
      List<float[]> expected,
      double seconds) {
    String operation =
        name.replaceFirst(" Settings\\[useSoftLabels=true.*", ", soft labels")
            .replaceFirst(" Settings\\[.*", ", hard labels")
            .replaceFirst(",? [^ ]*\\d.*", "");
    String by = products == MatrixProducts.CUBLAS ? ", cuBLAS" : "";
    Row row = rows.computeIfAbsent(operation + by, key -> new Row());
    row.cases++;
    row.seconds += seconds;
    for (int r = 0; r < found.size(); r++) {
      double largest = 0;
      double difference = 0;
      for (int i = 0; i < found.get(r).length; i++) {
        double wanted = expected.get(r)[i];
        if (Double.isFinite(wanted)) {
          largest = Math.max(largest, Math.abs(wanted));
          difference = Math.max(difference, Math.abs(found.get(r)[i] - wanted));
        }
      }
      row.absolute = Math.max(row.absolute, difference);
      row.ofLargest = Math.max(row.ofLargest, largest == 0 ? 0 : difference / largest);
    }
  }

  /** Writes the table, if it is wanted. */
  void write() throws IOException {
    String file = System.getProperty(FILE);
    if (file == null) {
      return;
    }
    List<String> lines = new ArrayList<>();
    lines.add("| operation | cases | largest error | of the result's largest value | seconds |");
    lines.add("| --- | --- | --- | --- | --- |");
    rows.forEach(
        (name, row) ->
            lines.add(
                "| %s | %d | %.1e | %.1e | %.2f |"
                    .formatted(name, row.cases, row.absolute, row.ofLargest, row.seconds)));
    Files.write(Path.of(file), lines);
  }
}
