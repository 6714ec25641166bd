package org.draftmill.compute.drafter;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.HeadLoss;

/**
 * What must not change when a run is resumed, by name, as texts. The optimizer's rates may change;
 * what they act on may not.
 */
record PinnedRun(Map<String, String> values) {

  static PinnedRun of(String backend, DrafterConfig config, DrafterSettings settings) {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("backend", backend);
    values.put("seed", Long.toString(settings.seed()));
    values.put("total-steps", Long.toString(settings.totalSteps()));
    values.put("anchors", Integer.toString(settings.anchors()));
    values.put("pass-rows", Integer.toString(settings.passRows()));
    values.put("loss", text(settings.loss()));
    values.put("config", ServingConfig.write(config));
    return new PinnedRun(values);
  }

  private static String text(HeadLoss.Settings loss) {
    return "soft-labels %s, kl-temperature %s, kl-weight %s, gamma %s, streak-alpha %s, cap-lambda %s"
        .formatted(
            loss.useSoftLabels(),
            loss.klTemperature(),
            loss.klWeight(),
            loss.gamma(),
            loss.streakAlpha(),
            loss.capLambda());
  }

  /**
   * @param place where this run was stored
   * @throws InputException naming the first entry in which {@code now} differs
   */
  void requireSame(PinnedRun now, Path place) {
    for (Map.Entry<String, String> entry : values.entrySet()) {
      String current = now.values.get(entry.getKey());
      if (!entry.getValue().equals(current)) {
        throw new InputException(
            entry.getKey().equals("config")
                ? place + ": " + differingLine(entry.getValue(), current)
                : "%s: was written with %s = %s, but this run has %s; a run is resumed with what it began with."
                    .formatted(place, entry.getKey(), entry.getValue(), current));
      }
    }
  }

  private static String differingLine(String stored, String current) {
    String[] before = stored.split("\n");
    String[] now = current.split("\n");
    for (int line = 0; line < Math.min(before.length, now.length); line++) {
      if (!before[line].equals(now[line])) {
        return "was written for a drafter with %s, but this run's has %s; a run is resumed with the drafter it began with."
            .formatted(bare(before[line]), bare(now[line]));
      }
    }
    return "was written for a drafter of another shape.";
  }

  private static String bare(String line) {
    return line.strip().replaceAll(",$", "");
  }
}
