package org.draftmill.job.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.job.TestingRuns;
import org.draftmill.job.console.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(1800)
class PreparationITCase {
  private static final Path TARGET = Path.of("..", "demo", "target");

  @TempDir Path dir;

  @Test
  void theDatasetIsTheSameForAnyParallelismAndFollowsTheInput() throws Exception {
    List<String> lines = lines(9_000);
    Path plain = Files.write(dir.resolve("a.jsonl"), lines);
    Path packed = dir.resolve("b.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(String.join("\n", lines(50)).getBytes(StandardCharsets.UTF_8));
    }
    assertThat(Files.size(plain)).as("several ranges").isGreaterThan(2 << 20);

    prepare(
        dir.resolve("one"), "--parallelism", "1", "--input", plain.toString(), packed.toString());
    prepare(
        dir.resolve("four"), "--parallelism", "4", "--input", plain.toString(), packed.toString());

    assertThat(content(dir.resolve("four"))).isEqualTo(content(dir.resolve("one")));
    Dataset dataset = Dataset.open(dir.resolve("four"));
    dataset.verify();
    assertThat(dataset.manifest().shards().size()).isGreaterThan(3);
    assertThat(dataset.manifest().rejected()).containsEntry("malformed-json", 91L);
    assertThat(dataset.size()).isEqualTo(9_050 - 91);
    List<String> rejects = Files.readAllLines(dir.resolve("four/rejects.jsonl"));
    assertThat(rejects).hasSize(91);
    assertThat(rejects.get(1)).contains("a.jsonl\",\"line\":101,");
    assertThat(rejects.get(89)).contains("a.jsonl\",\"line\":8901,");
    assertThat(rejects.get(90)).contains("b.jsonl.gz\",\"line\":1,");
  }

  @Test
  void tokenizedArrowFilesAreTakenAsTheyAre() throws Exception {
    Path text = Files.write(dir.resolve("a.jsonl"), lines(40));
    prepare(dir.resolve("first"), "--input", text.toString());

    prepare(dir.resolve("again"), "--input", dir.resolve("first/data-00000.arrow").toString());

    Dataset first = Dataset.open(dir.resolve("first"));
    Dataset again = Dataset.open(dir.resolve("again"));
    assertThat(again.size()).isEqualTo(first.size());
    for (long id = 0; id < first.size(); id++) {
      assertThat(again.sequence(id)).isEqualTo(first.sequence(id));
    }
  }

  @Test
  void rejectsOfAnAttemptThatDiedDoNotStay() throws Exception {
    Path out = Files.createDirectories(dir.resolve("out"));
    Files.writeString(out.resolve("rejects.jsonl"), "stale");
    Path text = Files.write(dir.resolve("a.jsonl"), lines(40));
    prepare(out, "--input", text.toString());
    assertThat(Files.readAllLines(out.resolve("rejects.jsonl"))).hasSize(1);

    Path clean = Files.createDirectories(dir.resolve("clean"));
    Files.writeString(clean.resolve("rejects.jsonl"), "stale");
    Path whole = Files.write(dir.resolve("b.jsonl"), lines(40).subList(1, 40));
    prepare(clean, "--input", whole.toString());
    assertThat(clean.resolve("rejects.jsonl")).doesNotExist();
  }

  @Test
  void whatCannotBeUsedEndsWithTwoAndOneLine() throws Exception {
    Path broken = Files.write(dir.resolve("a.jsonl.gz"), new byte[100]);

    assertThat(refusal(broken, dir.resolve("out")))
        .startsWith("error: The input " + broken + " cannot be unpacked")
        .hasLineCount(1);
  }

  @Test
  void aPlaceThatCannotBeWrittenToEndsWithTwoAndOneLine() throws Exception {
    Path text = Files.write(dir.resolve("a.jsonl"), lines(1));

    assertThat(refusal(text, text.resolve("out")))
        .startsWith("error: --out " + text.resolve("out") + " cannot be written to: ")
        .hasLineCount(1);
  }

  @Test
  void aBombEndsWithTwoAndOneLine() throws Exception {
    Path bomb = dir.resolve("bomb.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(bomb))) {
      byte[] blanks = " ".repeat(1 << 20).getBytes(StandardCharsets.UTF_8);
      blanks[blanks.length - 1] = '\n';
      for (int i = 0; i < 200; i++) {
        out.write(blanks);
      }
    }

    assertThat(refusal(bomb, dir.resolve("out")))
        .startsWith("error: The input " + bomb + " becomes more than 200 times larger")
        .hasLineCount(1);
  }

  /** What is said of an input, or a place, that cannot be used. */
  private static String refusal(Path input, Path out) {
    TestingRuns.Result result =
        TestingRuns.draftmill(
            "prepare",
            "--target",
            TARGET.toString(),
            "--input",
            input.toString(),
            "--out",
            out.toString());
    assertThat(result.exitCode()).isEqualTo(ExitCode.UNUSABLE);
    return result.err();
  }

  /** Every hundredth line is broken. */
  private static List<String> lines(int count) {
    Random random = new Random(count);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      StringBuilder text = new StringBuilder("row " + i);
      while (text.length() < 250) {
        text.append(' ').append(Integer.toString(random.nextInt(1 << 20), 36));
      }
      lines.add(i % 100 == 0 ? "{broken" : "{\"text\": \"" + text + "\"}");
    }
    return lines;
  }

  private static void prepare(Path out, String... arguments) {
    List<String> all =
        new ArrayList<>(List.of("prepare", "--target", TARGET.toString(), "--out", out.toString()));
    all.addAll(List.of(arguments));
    TestingRuns.Result result = TestingRuns.draftmill(all.toArray(String[]::new));
    assertThat(result.exitCode()).as(result.err()).isEqualTo(ExitCode.DONE);
  }

  private static List<String> content(Path directory) throws Exception {
    List<String> content = new ArrayList<>();
    try (var files = Files.list(directory)) {
      for (Path file : files.sorted().toList()) {
        content.add(file.getFileName() + " " + java.util.Arrays.hashCode(Files.readAllBytes(file)));
      }
    }
    return content;
  }
}
