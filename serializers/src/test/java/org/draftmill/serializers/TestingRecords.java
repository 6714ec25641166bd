package org.draftmill.serializers;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Records drawn from a seeded generator, small ones and odd shapes included. */
final class TestingRecords {
  private TestingRecords() {}

  static JobId job(RandomGenerator random) {
    return new JobId(
        random.nextLong(1L << random.nextInt(1, 63)),
        random.nextInt(100),
        random.nextInt(Integer.MAX_VALUE),
        random.nextInt(6));
  }

  static HiddenStateChunk chunk(RandomGenerator random) {
    return random.nextInt(8) == 0 ? tombstone(random) : hidden(random);
  }

  static HiddenStateChunk tombstone(RandomGenerator random) {
    String reason = "π is not finite ".repeat(random.nextInt(5));
    return HiddenStateChunk.tombstone(job(random), random.nextInt(1000), reason);
  }

  static HiddenStateChunk hidden(RandomGenerator random) {
    List<HiddenStateChunk.Document> documents = new ArrayList<>();
    int rows = 0;
    for (int d = random.nextInt(1, 6); d > 0; d--) {
      int length = random.nextInt(1, 9);
      documents.add(new HiddenStateChunk.Document(random.nextLong(1L << 40), rows, length));
      rows += length;
    }
    int first = random.nextBoolean() ? 0 : random.nextInt(rows);
    int end = random.nextInt(first + 1, rows + 1);
    int chunk = first == 0 ? 0 : random.nextInt(1, 5);
    int chunks = end == rows ? chunk + 1 : chunk + random.nextInt(2, 5);
    HiddenStateChunk.Shape shape =
        new HiddenStateChunk.Shape(
            chunk,
            chunks,
            first,
            end - first,
            rows,
            random.nextInt(1, 12),
            random.nextInt(4),
            HiddenDType.values()[random.nextInt(3)]);
    documents.removeIf(d -> d.firstRow() < first || d.firstRow() >= end);
    HiddenStateChunk.Builder builder = HiddenStateChunk.builder(job(random), shape, documents);
    fill(builder.inputIds(), random);
    fill(builder.lossMask(), random);
    fill(builder.taps(), random);
    fill(builder.finalStates(), random);
    return builder.build();
  }

  private static void fill(ByteBuffer part, RandomGenerator random) {
    byte[] bytes = new byte[part.remaining()];
    random.nextBytes(bytes);
    part.put(bytes);
  }

  static StepMarker marker(RandomGenerator random) {
    List<StepMarker.Release> releases = new ArrayList<>();
    for (int n = random.nextInt(13); n > 0; n--) {
      releases.add(new StepMarker.Release(job(random), random.nextInt(5) == 0));
    }
    return StepMarker.of(random.nextLong(1L << 40), random.nextInt(8), releases);
  }

  static Delivery delivery(RandomGenerator random) {
    int drafter = random.nextInt(64);
    return random.nextInt(3) == 0
        ? Delivery.of(drafter, marker(random))
        : Delivery.of(drafter, random.nextLong(1L << 40), hidden(random));
  }
}
