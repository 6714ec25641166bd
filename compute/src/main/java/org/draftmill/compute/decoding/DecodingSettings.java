package org.draftmill.compute.decoding;

import org.draftmill.compute.InputException;

/**
 * How a continuation is chosen.
 *
 * @param maxNewTokens where it ends at the latest
 * @param temperature the logits are divided by it before a token is drawn; 0 takes the likeliest
 * @param seed of the draws; continuation {@code i} depends on it and {@code i} only
 */
public record DecodingSettings(int maxNewTokens, double temperature, long seed) {
  public DecodingSettings {
    if (maxNewTokens < 1) {
      throw new InputException(
          "At most " + maxNewTokens + " new tokens are asked for, where one at least is needed.");
    }
    if (!(temperature >= 0) || Double.isInfinite(temperature)) {
      throw new InputException(
          "The temperature is " + temperature + "; it must be 0 (greedy) or positive.");
    }
  }

  public static DecodingSettings greedy(int maxNewTokens) {
    return new DecodingSettings(maxNewTokens, 0, 0);
  }

  public boolean isGreedy() {
    return temperature == 0;
  }
}
