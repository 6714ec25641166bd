package org.draftmill.job.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds what somebody meant who mistyped a name. */
final class NearestName {
  private NearestName() {}

  /** The known name with the fewest edits from {@code name}; nothing when none is near. */
  static Optional<String> of(String name, Collection<String> known) {
    int bound = Math.max(3, name.length() / 2);
    return known.stream()
        .min(Comparator.comparingInt((String k) -> distance(name, k)).thenComparing(k -> k))
        .filter(k -> distance(name, k) <= bound);
  }

  /** Levenshtein distance: insertions, deletions and replacements of one character. */
  static int distance(String from, String to) {
    int[] previous = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int[] current = new int[to.length() + 1];
      current[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replace = previous[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(replace, 1 + Math.min(previous[j], current[j - 1]));
      }
      previous = current;
    }
    return previous[to.length()];
  }
}
