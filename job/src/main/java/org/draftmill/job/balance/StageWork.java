package org.draftmill.job.balance;

/**
 * What one stage has done, all its devices added up.
 *
 * @param devices that it has
 * @param tokens that it worked through
 * @param busySeconds in which they computed
 * @param exchangeSeconds that the work cost them besides, whatever the other stage does: the
 *     drafters' all-reduce without waiting in it; 0 for targets
 * @param elapsedSeconds on the clock, for the same work
 */
public record StageWork(
    int devices, double tokens, double busySeconds, double exchangeSeconds, double elapsedSeconds) {

  public StageWork {
    if (devices < 1 || !isAnything(tokens, busySeconds, elapsedSeconds)) {
      throw new IllegalArgumentException(
          "A stage of %d devices with %s tokens in %s busy of %s seconds tells nothing."
              .formatted(devices, tokens, busySeconds, elapsedSeconds));
    }
  }

  /**
   * Whether there is work to tell of: a stage may have computed for nothing yet, or a task that
   * failed may have told of none.
   */
  public static boolean isAnything(double tokens, double busySeconds, double elapsedSeconds) {
    return tokens > 0 && busySeconds > 0 && elapsedSeconds > 0;
  }

  /** Tokens a second of one device that never waits. */
  public double perDevice() {
    return tokens / (busySeconds + exchangeSeconds);
  }

  /** Share of their time in which the devices computed. */
  public double busy() {
    return Math.min(1, busySeconds / (devices * elapsedSeconds));
  }

  /** Tokens a second on the clock. */
  public double measured() {
    return tokens / elapsedSeconds;
  }
}
