package org.draftmill.job.chaos;

/**
 * What became of a strike.
 *
 * @param step of the pool when it struck, −1 if there was no pool just then
 */
record Kill(Strike strike, Outcome outcome, long step) {

  enum Outcome {
    /** The run had to restart for it. */
    HIT,
    /** The run ended before the moment came, or while it was struck. */
    TOO_LATE,
    /** The moment did not come in time. */
    NEVER_CAME,
    /** It went on as if nothing had happened. */
    WITHOUT_EFFECT
  }

  boolean hit() {
    return outcome == Outcome.HIT;
  }

  @Override
  public String toString() {
    return "%s: %s, step %d".formatted(strike, outcome, step);
  }
}
