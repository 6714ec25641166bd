package org.draftmill.corpus.plan;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.corpus.InputException;

/**
 * The borders between length buckets.
 *
 * <p>{@code n} bounds make {@code n + 1} buckets: bucket {@code b} holds the lengths in {@code
 * (bounds[b - 1], bounds[b]]}, the first starts at length 1 and the last has no upper end. So a
 * sequence of 512 tokens lies in the first bucket of the default bounds 512, 1024, 2048, 4096,
 * 8192.
 *
 * @param upper the bounds, positive and strictly ascending
 */
public record BucketBounds(List<Integer> upper) {
  /** The most bounds there may be. */
  public static final int MAX_BOUNDS = 1024;

  public static final BucketBounds DEFAULT = new BucketBounds(List.of(512, 1024, 2048, 4096, 8192));

  /**
   * @throws InputException if the bounds do not ascend or are too many
   */
  public BucketBounds {
    // A leading zero says what is true anyway: the first bucket starts at nothing.
    upper =
        List.copyOf(!upper.isEmpty() && upper.get(0) == 0 ? upper.subList(1, upper.size()) : upper);
    if (upper.size() > MAX_BOUNDS) {
      throw new InputException(
          "There are " + upper.size() + " bucket bounds; at most " + MAX_BOUNDS + " are possible.");
    }
    int previous = 0;
    for (int bound : upper) {
      if (bound <= previous) {
        throw new InputException(
            "The bucket bounds are %s; they must be positive and strictly ascending."
                .formatted(upper));
      }
      previous = bound;
    }
  }

  /**
   * Reads bounds as an option gives them: {@code 512,1024,2048}.
   *
   * @throws InputException if they cannot be read or do not ascend
   */
  public static BucketBounds parse(String text) {
    List<Integer> bounds = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      try {
        bounds.add(Integer.parseInt(part.trim()));
      } catch (NumberFormatException e) {
        throw new InputException(
            "The bucket bounds are '%s', in which '%s' is no whole number of tokens; give them as 512,1024,2048."
                .formatted(text, part.trim()));
      }
    }
    return new BucketBounds(bounds);
  }

  /** Number of buckets, one more than bounds. */
  public int buckets() {
    return upper.size() + 1;
  }

  /** The bucket of a sequence of {@code length} tokens. */
  public int bucketOf(int length) {
    int low = 0;
    int high = upper.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (length <= upper.get(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** The lengths of a bucket in words, such as {@code 513-1024} or {@code 8193+}. */
  public String label(int bucket) {
    int from = bucket == 0 ? 1 : upper.get(bucket - 1) + 1;
    return bucket == upper.size() ? from + "+" : from + "-" + upper.get(bucket);
  }
}
