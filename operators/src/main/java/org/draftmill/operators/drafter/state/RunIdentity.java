package org.draftmill.operators.drafter.state;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.draftmill.compute.InputException;

/**
 * What must stay as it was for a run to be the same run: seed, plan, target, shape of the drafter
 * and so on, as texts by the name that a user knows. It is stored with every checkpoint.
 *
 * @param values by name; order does not matter
 */
public record RunIdentity(Map<String, String> values) implements Serializable {
  private static final long serialVersionUID = 1L;

  public RunIdentity {
    values = new LinkedHashMap<>(values); // of a class that is serializable
  }

  @Override
  public Map<String, String> values() {
    return java.util.Collections.unmodifiableMap(values);
  }

  /** The same with one more value. */
  public RunIdentity with(String name, Object value) {
    Map<String, String> more = new LinkedHashMap<>(values);
    more.put(name, String.valueOf(value));
    return new RunIdentity(more);
  }

  /**
   * Compares the identity that a checkpoint holds with the one of this run.
   *
   * @throws InputException if they differ; it names every difference with both values
   */
  public void requireSameAs(RunIdentity stored) {
    List<String> differences = differences(stored);
    if (!differences.isEmpty()) {
      throw new InputException(
          "The checkpoint belongs to a run with %s: set %s back, or start a new run with --fresh."
              .formatted(
                  String.join("; and with ", differences),
                  differences.size() == 1 ? "it" : "them"));
    }
  }

  private List<String> differences(RunIdentity stored) {
    Map<String, String> all = new TreeMap<>(stored.values);
    all.putAll(values);
    List<String> differences = new ArrayList<>();
    for (String name : all.keySet()) {
      String before = stored.values.get(name);
      String now = values.get(name);
      if (!Objects.equals(before, now)) {
        differences.add(
            "%s = %s, but this one has %s = %s".formatted(name, shown(before), name, shown(now)));
      }
    }
    return differences;
  }

  private static String shown(String value) {
    return value == null ? "nothing" : value;
  }
}
