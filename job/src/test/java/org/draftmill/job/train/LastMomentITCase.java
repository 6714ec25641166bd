package org.draftmill.job.train;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.draftmill.compute.io.Folders;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.dataset.DatasetWriter;
import org.draftmill.job.TestingModels;
import org.draftmill.job.TestingProcess;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process is frozen again and again between the export of the final weights and its end, and its
 * run directory copied: what it leaves if it is killed there. From each copy the same command comes
 * to the same end, and no row, job or dead letter is lost or stands twice.
 */
@Tag("chaos")
@Timeout(900)
class LastMomentITCase {
  private static final int POISON = TestingModels.VOCABULARY - 2;

  @TempDir Path dir;

  private TestingRuns runs;

  private void prepare() throws IOException {
    runs = TestingRuns.in(dir.resolve("work"), 1, true);
    Path work = dir.resolve("work");
    Folders.delete(work.resolve("target"));
    TestingModels.poisoned(work.resolve("target"), POISON);
    Folders.delete(work.resolve("data"));
    try (DatasetWriter writer = new DatasetWriter(work.resolve("data"))) {
      for (int s = 0; s < 60; s++) {
        int[] ids = new int[20 + s % 7];
        byte[] mask = new byte[ids.length];
        for (int i = 0; i < ids.length; i++) {
          ids[i] = (7 * s + 3 * i) % POISON;
          mask[i] = 1;
        }
        if (s % 6 == 1) {
          ids[11] = POISON;
        }
        writer.write(new TokenizedSequence(ids, mask));
      }
      writer.finish(
          new DatasetManifest.Origin("tiny", DatasetManifest.UNKNOWN_TOKENIZER, 0), Map.of());
    }
  }

  @Test
  void whatEverIsKilledInTheLastMomentEndsAlike() throws Exception {
    prepare();
    Map<String, Path> left = freeze();
    final String weights = TestingRuns.weights(runs.runDirectory());
    final TreeSet<String> letters = new TreeSet<>(letters());
    final int rows = TrainingLog.read(runs.runDirectory().resolve("log")).size();
    assertThat(letters).isNotEmpty();
    System.out.println(left.size() + " moments: " + left.keySet());

    for (Map.Entry<String, Path> moment : left.entrySet()) {
      Folders.delete(runs.runDirectory());
      copy(moment.getValue(), runs.runDirectory());

      TestingRuns.Result result = runs.train();

      assertThat(result.exitCode())
          .as(moment.getKey() + ": " + result.out() + result.err())
          .isEqualTo(ExitCode.DONE);
      assertThat(TestingRuns.weights(runs.runDirectory())).as(moment.getKey()).isEqualTo(weights);
      assertThat(TrainingLog.read(runs.runDirectory().resolve("log")))
          .as(moment.getKey())
          .extracting(TrainingLog.Row::step)
          .doesNotHaveDuplicates()
          .hasSize(rows);
      assertThat(letters()).as(moment.getKey()).containsExactlyInAnyOrderElementsOf(letters);
    }
  }

  /** Copies of the run directory by what tells one moment from another. */
  private Map<String, Path> freeze() throws Exception {
    Map<String, Path> left = new LinkedHashMap<>();
    Process process = TestingProcess.train(dir.resolve("process.out"), runs);
    try {
      while (process.isAlive()) {
        if (Files.isSymbolicLink(runs.runDirectory().resolve("export/latest"))) {
          TestingProcess.signal(process, "-STOP");
          String moment = moment();
          if (!left.containsKey(moment) && process.isAlive()) {
            Path copy = dir.resolve("left-" + left.size());
            copy(runs.runDirectory(), copy);
            left.put(moment, copy);
          }
          TestingProcess.signal(process, "-CONT");
        }
        Thread.sleep(2);
      }
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue())
        .as(Files.readString(dir.resolve("process.out")))
        .isEqualTo(ExitCode.DONE);
    return left;
  }

  private String moment() throws IOException {
    Path run = runs.runDirectory();
    return "exported %s, rows in %d files and %d unfinished, letters in %d and %d, %d checkpoints%s"
        .formatted(
            Files.readSymbolicLink(run.resolve("export/latest")),
            count(run.resolve("log"), "training"),
            count(run.resolve("log"), ".training"),
            count(run.resolve("dead-letter"), "dead-letter"),
            count(run.resolve("dead-letter"), ".dead-letter"),
            count(run.resolve("checkpoints"), "_metadata"),
            Files.exists(run.resolve("summary.json")) ? ", summary" : "");
  }

  private static long count(Path directory, String prefix) throws IOException {
    if (!Files.isDirectory(directory)) {
      return 0;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.getFileName().toString().startsWith(prefix)).count();
    }
  }

  private List<String> letters() throws IOException {
    List<String> letters = new ArrayList<>();
    try (Stream<Path> files = Files.list(runs.runDirectory().resolve("dead-letter"))) {
      for (Path file : files.filter(f -> !f.getFileName().toString().startsWith(".")).toList()) {
        letters.addAll(Files.readAllLines(file));
      }
    }
    return letters;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> walk = Files.walk(from)) {
      for (Path path : (Iterable<Path>) walk::iterator) {
        Files.copy(path, to.resolve(from.relativize(path)), LinkOption.NOFOLLOW_LINKS);
      }
    }
  }
}
