package org.draftmill.serializers;

/**
 * Which job of the run a record belongs to.
 *
 * @param position jobs before it, counted from the start of the run
 * @param epoch pass over the dataset, from 0
 * @param index jobs before it in its epoch's list
 * @param bucket length bucket of its sequences, from 0
 */
public record JobId(long position, int epoch, int index, int bucket) {
  public JobId {
    if (position < 0 || epoch < 0 || index < 0 || bucket < 0) {
      throw new IllegalArgumentException(
          "A job's position %d, epoch %d, index %d and bucket %d must not be negative."
              .formatted(position, epoch, index, bucket));
    }
  }

  @Override
  public String toString() {
    return "job " + position + " (epoch " + epoch + ", index " + index + ")";
  }
}
