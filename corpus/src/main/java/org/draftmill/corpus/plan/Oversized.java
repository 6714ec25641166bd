package org.draftmill.corpus.plan;

import java.util.Arrays;
import org.draftmill.corpus.InputException;

/** What happens to a sequence that is longer than the token budget of a job. */
public enum Oversized {
  /** It becomes a job of its own, which then exceeds the budget. */
  OWN_JOB("own-job"),
  /** It is left out of the plan and counted. */
  REJECT("reject");

  private final String option;

  Oversized(String option) {
    this.option = option;
  }

  /** The word by which options and files name it. */
  public String option() {
    return option;
  }

  /**
   * The policy of that name.
   *
   * @throws InputException if there is none
   */
  public static Oversized parse(String option) {
    return Arrays.stream(values())
        .filter(policy -> policy.option.equals(option))
        .findFirst()
        .orElseThrow(
            () ->
                new InputException(
                    "jobs.oversized is '" + option + "'; it must be own-job or reject."));
  }
}
