package org.draftmill.compute.drafter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.draftmill.compute.Backends;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Heads;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.target.Taps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DrafterStateTest {
  private static final DrafterConfig CONFIG =
      TestingDrafters.config(2, Taps.of(1, 4), 4, new Heads(4, 2, 16), 64, 190, 23);
  private static final DrafterSettings SETTINGS = TestingDrafters.settings(CONFIG, 6, 60);

  @TempDir Path folder;

  /** A trainer and all that it needs. */
  private static final class Drafter implements AutoCloseable {
    private final Backend backend = Backends.open("cpu", 1);
    private final Workspace workspace = backend.workspace();
    private final DrafterTrainer trainer;

    Drafter(DrafterConfig config, DrafterSettings settings, int rank, int size) {
      float[] weights = new Initializer(5).weights(config, new ParameterLayout(config));
      trainer =
          new DrafterTrainer(
              backend,
              TestingDrafters.model(backend, workspace, config, weights),
              settings,
              weights,
              rank,
              size);
    }

    void take(int microbatch) {
      trainer.accumulate(TestingMicrobatches.random(CONFIG, microbatch, 4 + microbatch, 1, 14, 9));
    }

    @Override
    public void close() {
      trainer.close();
      workspace.close();
      backend.close();
    }
  }

  /** Four microbatches a step; the third step is interrupted after three of them. */
  private static void untilInterrupted(Drafter drafter, Collective member) throws IOException {
    for (int step = 0; step < 3; step++) {
      for (int m = 0; m < (step == 2 ? 3 : 4); m++) {
        if (m % member.size() == member.rank()) {
          drafter.take(4 * step + m);
        }
      }
      if (step < 2) {
        drafter.trainer.step(member);
      }
    }
  }

  private static void untilEnd(Drafter drafter, Collective member) throws IOException {
    if (11 % member.size() == member.rank()) {
      drafter.take(11);
    }
    drafter.trainer.step(member);
    if (member.rank() == member.size() - 1) {
      drafter.take(12);
    }
    drafter.trainer.step(member);
  }

  private static String uninterrupted() throws IOException {
    try (Drafter drafter = new Drafter(CONFIG, SETTINGS, 0, 1)) {
      untilInterrupted(drafter, Collective.alone());
      untilEnd(drafter, Collective.alone());
      return drafter.trainer.weightsSha256();
    }
  }

  private List<Path> writtenBy(int size) throws Exception {
    List<Callable<Path>> tasks = new ArrayList<>();
    for (Collective member : TestingCollective.group(size)) {
      tasks.add(
          () -> {
            try (Drafter drafter = new Drafter(CONFIG, SETTINGS, member.rank(), size)) {
              untilInterrupted(drafter, member);
              Path file = folder.resolve("of-" + size + "-" + member.rank() + ".safetensors");
              DrafterState state = drafter.trainer.snapshot();
              drafter.take(99); // what follows must not show in the snapshot
              DrafterStateFiles.write(file, state);
              return file;
            }
          });
    }
    return TestingCollective.together(tasks);
  }

  @Test
  void anyNumberOfDraftersGoesOnFromAnyNumberOfOthers() throws Exception {
    String expected = uninterrupted();
    for (int before : new int[] {1, 2, 5}) {
      List<Path> files = new ArrayList<>(writtenBy(before));
      Collections.reverse(files);
      for (int after : new int[] {1, 3}) {
        List<Callable<String>> tasks = new ArrayList<>();
        for (Collective member : TestingCollective.group(after)) {
          tasks.add(
              () -> {
                try (Drafter drafter = new Drafter(CONFIG, SETTINGS, member.rank(), after);
                    DrafterStateFiles states = DrafterStateFiles.open(files)) {
                  drafter.take(50); // forgotten by the restore
                  drafter.trainer.restore(states);
                  assertThat(drafter.trainer.step()).isEqualTo(2);
                  untilEnd(drafter, member);
                  return drafter.trainer.weightsSha256();
                }
              });
        }
        assertThat(TestingCollective.together(tasks))
            .as("%d drafters, then %d", before, after)
            .containsOnly(expected);
      }
    }
  }

  @Test
  void sumsAreWrittenOnlyWithinAStep() throws IOException {
    try (Drafter drafter = new Drafter(CONFIG, SETTINGS, 0, 1)) {
      drafter.take(1);
      assertThat(drafter.trainer.snapshot().gradientSums()).isNotNull();
      drafter.trainer.step(Collective.alone());
      DrafterState state = drafter.trainer.snapshot();
      assertThat(state.gradientSums()).isNull();
      assertThat(state.bytes()).isEqualTo(12L * state.parameters());
      Path file = folder.resolve("between.safetensors");
      assertThat(DrafterStateFiles.write(file, state).bytes()).isEqualTo(Files.size(file));
      try (DrafterStateFiles states = DrafterStateFiles.open(List.of(file))) {
        states.verify();
        assertThat(states.step()).isEqualTo(1);
        assertThat(states.updates()).isEqualTo(1);
        assertThat(states.config()).isEqualTo(CONFIG);
        assertThat(states.weights()).isEqualTo(drafter.trainer.weights());
        drafter.trainer.restore(states);
      }
      assertThat(drafter.trainer.inProgress()).isFalse();
    }
  }

  @Test
  void everyDamagedByteIsFoundAndNamed() throws Exception {
    Path file = writtenBy(1).get(0);
    byte[] whole = Files.readAllBytes(file);
    Random random = new Random(3);
    for (int trial = 0; trial < 200; trial++) {
      byte[] damaged = whole.clone();
      int at = random.nextInt(trial < 100 ? 3000 : whole.length);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, damaged);
      assertThatThrownBy(
              () -> {
                try (DrafterStateFiles states = DrafterStateFiles.open(List.of(file))) {
                  states.verify();
                }
              })
          .as("byte %d", at)
          .isInstanceOf(InputException.class)
          .hasMessageContaining(file.toString());
    }
    Files.write(file, Arrays.copyOf(whole, whole.length - 8));
    assertThatThrownBy(() -> DrafterStateFiles.open(List.of(file)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("truncated");
  }

  @Test
  void aDamagedTensorIsNamedWhenItIsRestored() throws Exception {
    Path file = writtenBy(1).get(0);
    byte[] damaged = Files.readAllBytes(file);
    damaged[damaged.length - 5] ^= 1;
    Files.write(file, damaged);
    try (Drafter drafter = new Drafter(CONFIG, SETTINGS, 0, 1);
        DrafterStateFiles states = DrafterStateFiles.open(List.of(file))) {
      assertThatThrownBy(() -> drafter.trainer.restore(states))
          .isInstanceOf(InputException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("tensor 'weights'");
    }
  }

  @Test
  void filesThatDoNotBelongTogetherAreRefused() throws Exception {
    List<Path> two = writtenBy(2);
    List<Path> one = writtenBy(1);
    assertThatThrownBy(() -> DrafterStateFiles.open(List.of())).isInstanceOf(InputException.class);
    assertThatThrownBy(() -> DrafterStateFiles.open(two.subList(0, 1)))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("drafter 0 of 2, but 1 files were given");
    assertThatThrownBy(() -> DrafterStateFiles.open(List.of(two.get(0), one.get(0))))
        .isInstanceOf(InputException.class);
    assertThatThrownBy(() -> DrafterStateFiles.open(List.of(two.get(0), two.get(0))))
        .isInstanceOf(InputException.class);
    try (Drafter drafter = new Drafter(CONFIG, SETTINGS, 1, 2)) {
      drafter.trainer.step(TestingAlone.as(1, 2));
      Path later = folder.resolve("later.safetensors");
      DrafterStateFiles.write(later, drafter.trainer.snapshot());
      assertThatThrownBy(() -> DrafterStateFiles.open(List.of(two.get(0), later)))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("not of one checkpoint");
    }
  }

  @Test
  void anotherRunIsRefusedByName() throws Exception {
    List<Path> files = writtenBy(1);
    assertRefused(files, CONFIG, with(43, 10, 6), "seed = 42, but this run has 43");
    assertRefused(files, CONFIG, with(42, 11, 6), "total-steps = 10, but this run has 11");
    assertRefused(files, CONFIG, with(42, 10, 7), "anchors = 6, but this run has 7");
    DrafterConfig deeper =
        TestingDrafters.config(3, Taps.of(1, 4), 4, new Heads(4, 2, 16), 64, 190, 23);
    assertRefused(files, deeper, SETTINGS, "\"layer_types\"");
    DrafterConfig otherTaps =
        TestingDrafters.config(2, Taps.of(1, 5), 4, new Heads(4, 2, 16), 64, 190, 23);
    assertRefused(files, otherTaps, SETTINGS, "\"target_layer_ids\" : [ 1, 4 ]");
  }

  private static DrafterSettings with(long seed, long totalSteps, int anchors) {
    return new DrafterSettings(
        seed, totalSteps, anchors, SETTINGS.loss(), SETTINGS.optimizer(), 60, 1 << 20);
  }

  private static void assertRefused(
      List<Path> files, DrafterConfig config, DrafterSettings settings, String message) {
    try (Drafter drafter = new Drafter(config, settings, 0, 1);
        DrafterStateFiles states = DrafterStateFiles.open(files)) {
      assertThatThrownBy(() -> drafter.trainer.restore(states))
          .isInstanceOf(InputException.class)
          .hasMessageContaining(files.get(0).toString())
          .hasMessageContaining(message);
    }
  }
}
