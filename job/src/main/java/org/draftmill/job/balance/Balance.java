package org.draftmill.job.balance;

/**
 * How targets and drafters of a run are matched.
 *
 * <p>Each token that a target extracts is trained once, so the run is as fast as the slower of the
 * two stages. A stage's capacity is what it would do if it never waited: its devices times the
 * tokens a second of one that computes. Drafters take whole microbatches and wait for each other at
 * the end of a step: {@code a} microbatches on {@code d} drafters take {@code ceil(a/d)} rounds, so
 * their capacity is {@code a / ceil(a/d)} devices, not {@code d}.
 *
 * @param accumulation microbatches of a step
 * @param steps that this was measured over
 */
public record Balance(StageWork targets, StageWork drafters, int accumulation, long steps) {
  /** Capacities closer than this count as even: no split of whole devices is worth less. */
  private static final double EVEN = 0.05;

  /** Fewer steps than this say little: the pool was being filled, code was being compiled. */
  public static final long ENOUGH_STEPS = 100;

  /** Which stage the run waits for. */
  public enum Bound {
    TARGETS,
    DRAFTERS,
    NEITHER
  }

  /** A way to share out the devices, and the tokens a second that it can do. */
  public record Split(int targets, int drafters, double tokensPerSecond) {}

  /**
   * In a summary.
   *
   * @param targetCapacity tokens a second of all targets, if they never waited
   * @param drafterCapacity of all drafters
   * @param waiting share of its time in which the other stage has nothing to do
   * @param bestTargets of the devices that there are
   * @param gain in tokens a second with that split, 0.1 for a tenth more
   */
  public record Figures(
      long steps,
      double targetCapacity,
      double drafterCapacity,
      String boundBy,
      double waiting,
      int bestTargets,
      int bestDrafters,
      double gain) {}

  public double targetCapacity() {
    return targets.devices() * targets.perDevice();
  }

  public double drafterCapacity() {
    return drafterCapacity(drafters.devices());
  }

  private double drafterCapacity(int devices) {
    int rounds = (accumulation + devices - 1) / devices;
    return drafters.perDevice() * accumulation / rounds;
  }

  public Bound bound() {
    if (waiting() < EVEN) {
      return Bound.NEITHER;
    }
    return targetCapacity() < drafterCapacity() ? Bound.TARGETS : Bound.DRAFTERS;
  }

  /** Share of its time in which the stage that does not bound the run has nothing to do. */
  public double waiting() {
    double slower = Math.min(targetCapacity(), drafterCapacity());
    return 1 - slower / Math.max(targetCapacity(), drafterCapacity());
  }

  /** What the devices can do as they are shared out. */
  public Split present() {
    return split(targets.devices(), drafters.devices());
  }

  /** The fastest way to share out the devices; of equals, the one closest to the present. */
  public Split best() {
    int devices = targets.devices() + drafters.devices();
    Split best = present();
    for (int distance = 1; distance < devices; distance++) {
      for (int targetDevices :
          new int[] {targets.devices() - distance, targets.devices() + distance}) {
        if (targetDevices >= 1 && targetDevices < devices) {
          Split other = split(targetDevices, devices - targetDevices);
          best = other.tokensPerSecond() > best.tokensPerSecond() ? other : best;
        }
      }
    }
    return best;
  }

  /** How much more the best split can do than the present one; 0 if that is it. */
  public double gain() {
    return best().tokensPerSecond() / present().tokensPerSecond() - 1;
  }

  private Split split(int targetDevices, int drafterDevices) {
    double rate = Math.min(targetDevices * targets.perDevice(), drafterCapacity(drafterDevices));
    return new Split(targetDevices, drafterDevices, rate);
  }

  public Figures figures() {
    Split best = best();
    return new Figures(
        steps,
        targetCapacity(),
        drafterCapacity(),
        bound().name().toLowerCase(java.util.Locale.ROOT),
        waiting(),
        best.targets(),
        best.drafters(),
        gain());
  }
}
