package org.draftmill.compute.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FloatArenaTest {
  @Test
  void piecesNeverOverlap() {
    Random random = new Random(1);
    FloatArena arena = new FloatArena(false);
    for (int round = 0; round < 20; round++) {
      List<HostMatrix> pieces = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        HostMatrix piece = arena.matrix(random.nextInt(30), random.nextInt(400));
        Arrays.fill(piece.data(), piece.offset(), piece.offset() + piece.size(), i);
        pieces.add(piece);
      }
      for (int i = 0; i < 40; i++) {
        HostMatrix piece = pieces.get(i);
        for (int at = 0; at < piece.size(); at++) {
          assertThat(piece.data()[piece.offset() + at]).isEqualTo(i);
        }
      }
      arena.reset();
    }
  }

  @Test
  void settlesOnTheMemoryOfTheLargestRoundHoweverSizesVary() {
    Random random = new Random(2);
    FloatArena arena = new FloatArena(false);
    for (int round = 0; round < 100; round++) {
      take(arena, round == 10 ? 1000 : 1 + random.nextInt(999));
    }
    long held = arena.bytesHeld();
    assertThat(held).isBetween(largest(), largest() * 9 / 8);
    for (int round = 0; round < 100; round++) {
      take(arena, 1 + random.nextInt(1000));
    }
    assertThat(arena.bytesHeld()).isEqualTo(held);
    assertThat(arena.peakBytes()).isGreaterThanOrEqualTo(held);
  }

  private static long largest() {
    return 4L * 20 * 1000 * 64;
  }

  private static void take(FloatArena arena, int rows) {
    for (int i = 0; i < 20; i++) {
      arena.matrix(rows, 64);
    }
    arena.reset();
  }

  @Test
  void aSingleMatrixTakesJustItsSize() {
    FloatArena arena = new FloatArena(true);
    HostMatrix matrix = arena.matrix(2048, 256);
    assertThat(arena.bytesHeld()).isEqualTo(4L * 2048 * 256);
    assertThat(matrix.data()[123]).isNaN();
  }
}
