package org.draftmill.compute.drafter;

/**
 * What a step did, the same on every drafter but for the seconds.
 *
 * @param step number of the step, from 0
 * @param loss Σ m·(w·l + cap) / Σ m·w, NaN when nothing was supervised
 * @param accuracy part of the supervised slots that were drafted right, NaN when there were none
 * @param accuracyBySlot the same for each slot 1 … B − 1
 * @param jointPrefix {@code 1 + mean over blocks of Σ_k Π_{i≤k} m_i·hit_i}, NaN without a block
 * @param learningRate of this step
 * @param gradientNorm before clipping; 0 when nothing was supervised, NaN when skipped
 * @param microbatches tombstones not counted
 * @param tombstones jobs that failed and counted with weight zero
 * @param tokens rows of the microbatches
 * @param supervised slots
 * @param skipped whether a value that was not finite or too large kept all drafters from changing
 *     the weights
 * @param reduceSeconds waiting for and exchanging with the other drafters
 * @param optimizerSeconds norm, update, and bringing the weights to the device
 */
public record StepFigures(
    long step,
    double loss,
    double accuracy,
    double[] accuracyBySlot,
    double jointPrefix,
    double learningRate,
    double gradientNorm,
    long microbatches,
    long tombstones,
    long tokens,
    long supervised,
    boolean skipped,
    double reduceSeconds,
    double optimizerSeconds) {}
