package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.PeerValues;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums and weights that go from one GPU to another; several need several, so on emulated ones. */
@Tag(CudaEmulator.TAG)
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class CudaPeersTest {
  private static final int STAGING = 1 << 12;
  private static final int SIZE = 2600; // several chunks of sums
  private static final int FROM = 3;
  private static final int TO = 2599;

  private final Random random = new Random(7);
  private CudaBackend mine;
  private CudaBackend theirs;

  @BeforeEach
  void open() {
    CudaEmulator.setDevices(2);
    mine = CudaBackend.open(0, STAGING);
    theirs = CudaBackend.open(1, STAGING);
  }

  @AfterEach
  void close() {
    theirs.close();
    mine.close();
    for (CudaEmulator.Kind kind : CudaEmulator.Kind.values()) {
      assertThat(CudaEmulator.live(kind)).as(kind.name()).isZero();
    }
  }

  private long[] sums(int size) {
    return random.longs(size, Long.MIN_VALUE / 4, Long.MAX_VALUE / 4).toArray();
  }

  private static ExactSums sums(CudaBackend backend, long[] values) {
    ExactSums sums = backend.exactSums(values.length);
    sums.write(values);
    return sums;
  }

  private static PeerValues peer(ExactSums sums) {
    return sums.forPeers().orElseThrow();
  }

  private void requireSumsOf(CudaBackend other) {
    long[] here = sums(SIZE);
    long[] there = sums(SIZE);
    try (ExactSums own = sums(mine, here);
        ExactSums others = sums(other, there)) {
      PeerValues peer = peer(others);
      peer(own).take(peer, FROM, TO);
      for (int i = FROM; i < TO; i++) {
        here[i] += there[i];
      }
      assertThat(own.toHost()).containsExactly(here);
      assertThat(others.toHost()).containsExactly(there);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3})
  void sumsAreAdded(long seed) {
    CudaEmulator.order(seed == 0 ? CudaEmulator.Order.LATE : CudaEmulator.Order.RANDOM, seed);
    long before = CudaEmulator.copiesBetweenDevices(true);
    requireSumsOf(theirs);
    assertThat(CudaEmulator.copiesBetweenDevices(true) - before)
        .isEqualTo((TO - FROM + STAGING / 8 - 1) / (STAGING / 8));
  }

  @Test
  void theDriverTakesThemByWayOfTheHostWhereDevicesDoNotReachEachOther() {
    CudaEmulator.setPeers(false);
    long before = CudaEmulator.copiesBetweenDevices(false);
    requireSumsOf(theirs);
    assertThat(CudaEmulator.copiesBetweenDevices(false)).isGreaterThan(before);
  }

  @Test
  void twoOnOneDeviceExchangeToo() {
    try (CudaBackend other = CudaBackend.open(0, STAGING)) {
      requireSumsOf(other);
    }
  }

  @Test
  void whatWasTakenCanBeTakenOnAtOnce() {
    int size =
        STAGING / Long.BYTES; // one chunk: nothing is freed, which would wait for all streams
    long[] here = sums(size);
    long[] there = sums(size);
    long[] beyond = sums(size);
    try (CudaBackend other = CudaBackend.open(1, STAGING);
        ExactSums own = sums(mine, here);
        ExactSums others = sums(theirs, there);
        ExactSums last = sums(other, beyond)) {
      PeerValues middle = peer(own);
      middle.take(peer(others), 0, size);
      peer(last).take(middle, 0, size);
      for (int i = 0; i < size; i++) {
        beyond[i] += here[i] + there[i];
      }
      assertThat(last.toHost()).containsExactly(beyond);
    }
  }

  @Test
  void weightsArePutInPlace() {
    float[] here = new float[SIZE];
    float[] there = new float[SIZE];
    for (int i = 0; i < SIZE; i++) {
      here[i] = i;
      there[i] = -i - 0.5f;
    }
    try (Masters own = mine.masters(here.clone(), 0, SIZE);
        Masters others = theirs.masters(there.clone(), 0, SIZE)) {
      PeerValues peer = others.forPeers().orElseThrow();
      own.forPeers().orElseThrow().take(peer, FROM, TO);
      System.arraycopy(there, FROM, here, FROM, TO - FROM);
      assertThat(own.toHost(0, SIZE)).containsExactly(here);
      assertThat(others.toHost(0, SIZE)).containsExactly(there);
    }
  }

  @Test
  void whoHasLeftIsNotReadAnyMore() {
    try (ExactSums own = sums(mine, sums(SIZE))) {
      ExactSums others = sums(theirs, sums(SIZE));
      PeerValues peer = peer(others);
      others.close();
      assertThatThrownBy(() -> peer(own).take(peer, FROM, TO))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("the memory of a drafter on GPU 1")
          .hasMessageContaining("was given back");
    }
  }

  @Test
  void memoryThatIsReadIsGivenBackAfterwards() throws Exception {
    Piece piece = new Piece(theirs.memory().allocate(64), 64);
    PeerMemory memory = new PeerMemory(theirs.launcher(), piece);
    PeerMemory.Reading reading = memory.read(mine.launcher());
    CompletableFuture<Void> closed = CompletableFuture.runAsync(memory::close);

    assertThatThrownBy(() -> closed.get(50, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    reading.close();

    closed.get(10, TimeUnit.MINUTES);
    assertThatThrownBy(() -> memory.read(mine.launcher()))
        .isInstanceOf(IllegalStateException.class);
  }
}
