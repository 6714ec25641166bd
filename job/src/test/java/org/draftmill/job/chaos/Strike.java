package org.draftmill.job.chaos;

/**
 * A kill that a scenario asks for.
 *
 * @param notBefore the part of the run's steps, 0 to 1, that the pool must have come to
 * @param delayMillis from there on, before the moment is looked for
 * @param choice which of several TaskManagers or threads it hits
 */
record Strike(Moment moment, Weapon weapon, double notBefore, long delayMillis, int choice) {
  @Override
  public String toString() {
    return "%s at %s, from %.2f on".formatted(weapon.label(), moment.label(), notBefore);
  }
}
