package org.draftmill.corpus.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.Sequences;
import org.draftmill.corpus.TokenizedSequence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DatasetTest {
  private static final DatasetManifest.Origin ORIGIN =
      new DatasetManifest.Origin("demo", "ab".repeat(32), 512);

  @TempDir private Path directory;

  private DatasetManifest write(Path to, List<TokenizedSequence> sequences, long shardTokens)
      throws IOException {
    try (DatasetWriter writer = new DatasetWriter(to, shardTokens)) {
      for (TokenizedSequence sequence : sequences) {
        writer.write(sequence);
      }
      return writer.finish(ORIGIN, Map.of("too-long", 3L));
    }
  }

  @Test
  void everySequenceIsFoundAgainByItsId() throws IOException {
    List<TokenizedSequence> sequences = Sequences.random(1, 500, 300);
    DatasetManifest manifest = write(directory, sequences, 10_000);

    Dataset dataset = Dataset.open(directory);

    assertThat(manifest.shards()).hasSizeGreaterThan(5);
    assertThat(dataset.manifest()).isEqualTo(manifest);
    assertThat(dataset.size()).isEqualTo(500);
    for (int id : new int[] {499, 0, 250, 1}) {
      assertThat(dataset.sequence(id)).isEqualTo(sequences.get(id));
    }
    assertThat(IntStream.range(0, 500).mapToObj(dataset::sequence)).isEqualTo(sequences);
    assertThat(dataset.lengths())
        .containsExactly(sequences.stream().mapToInt(TokenizedSequence::length).toArray());
    dataset.verify();
  }

  @Test
  void aFileIsNoPlaceForADataset() throws IOException {
    Path file = Files.createFile(directory.resolve("taken"));

    assertThatThrownBy(() -> DatasetAssembler.requireNone(file))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(file + " is a file");
  }

  @Test
  void theManifestAddsUp() throws IOException {
    List<TokenizedSequence> sequences = Sequences.random(2, 100, 50);

    DatasetManifest manifest = write(directory, sequences, 1_000);

    assertThat(manifest.sequences()).isEqualTo(100);
    assertThat(manifest.tokens())
        .isEqualTo(sequences.stream().mapToLong(TokenizedSequence::length).sum());
    assertThat(manifest.supervisedTokens())
        .isEqualTo(sequences.stream().mapToLong(TokenizedSequence::supervised).sum());
    assertThat(manifest.longest())
        .isEqualTo(sequences.stream().mapToInt(TokenizedSequence::length).max().orElseThrow());
    assertThat(manifest.rejected()).isEqualTo(Map.of("too-long", 3L));
    assertThat(Files.readString(directory.resolve("dataset.json")))
        .contains("\"format\" : \"draftmill-dataset\"", "\"tokenizer_sha256\"", "\"too-long\" : 3");
  }

  @Test
  void theFingerprintFollowsTheContentOnly(@TempDir Path other, @TempDir Path third)
      throws IOException {
    List<TokenizedSequence> sequences = Sequences.random(3, 20, 50);

    String fingerprint = write(directory, sequences, 1_000).fingerprint();

    assertThat(write(other, sequences, 1_000).fingerprint()).isEqualTo(fingerprint);
    assertThat(write(third, Sequences.random(4, 20, 50), 1_000).fingerprint())
        .isNotEqualTo(fingerprint);
  }

  @Test
  void batchesAreBoundedInRowsAndTokens() throws IOException {
    TokenizedSequence small = new TokenizedSequence(new int[] {1}, new byte[] {1});
    TokenizedSequence large = Sequences.random(5, 1, 1).get(0);
    large = new TokenizedSequence(new int[700_000], new byte[700_000]);
    Path file = directory.resolve("x.arrow");
    try (var out = Files.newOutputStream(file);
        ArrowShardWriter writer = new ArrowShardWriter(out, Map.of("note", "hello"))) {
      for (int i = 0; i < 10_000; i++) {
        writer.write(small);
      }
      writer.write(large);
      writer.write(large);
      writer.finish();
    }

    ArrowShardReader reader = ArrowShardReader.open(file);

    assertThat(ArrowLayout.of(new MappedFile(file)).batches().stream().map(ShardBatch::rows))
        .containsExactly(8192L, 1809L, 1L);
    assertThat(reader.rows()).isEqualTo(10_002);
    assertThat(reader.sequence(10_001)).isEqualTo(large);
    assertThat(reader.metadata()).containsEntry("note", "hello");
  }

  @Test
  void theWriterLeavesTheStreamOpenAndItsBytesAreAlwaysTheSame() throws IOException {
    List<byte[]> written = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      ByteArrayOutputStream out =
          new ByteArrayOutputStream() {
            @Override
            public void close() {
              throw new AssertionError("closed");
            }
          };
      try (ArrowShardWriter writer = new ArrowShardWriter(out, Map.of())) {
        for (TokenizedSequence sequence : Sequences.random(6, 50, 20)) {
          writer.write(sequence);
        }
        writer.finish();
        writer.finish();
        assertThatThrownBy(() -> writer.write(Sequences.random(6, 1, 1).get(0)))
            .isInstanceOf(IllegalStateException.class);
      }
      written.add(out.toByteArray());
    }
    assertThat(written.get(0)).isEqualTo(written.get(1));
  }

  @Test
  void aDatasetIsNeverOverwritten() throws IOException {
    write(directory, Sequences.random(7, 2, 5), 1_000);

    assertThatThrownBy(() -> new DatasetWriter(directory))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("already");
  }

  @Test
  void nothingLeftIsAnError() {
    assertThatThrownBy(() -> write(directory, List.of(), 1_000))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("too-long=3");
  }

  @Test
  void shardsWithoutRowsVanish() throws IOException {
    Path empty = directory.resolve("part-0");
    Path full = directory.resolve("part-1");
    for (Path path : List.of(empty, full)) {
      try (var out = Files.newOutputStream(path);
          ArrowShardWriter writer = new ArrowShardWriter(out, Map.of())) {
        if (path.equals(full)) {
          writer.write(Sequences.random(8, 1, 5).get(0));
        }
        writer.finish();
      }
    }

    DatasetManifest manifest =
        DatasetAssembler.assemble(directory, List.of(empty, full), ORIGIN, Map.of());

    assertThat(manifest.shards()).hasSize(1);
    assertThat(directory).isDirectoryNotContaining("glob:**part-*");
  }

  @Test
  void aMissingOrShortOrReplacedShardIsNamed() throws IOException {
    write(directory, Sequences.random(9, 40, 50), 500);
    Path shard = directory.resolve("data-00001.arrow");
    byte[] bytes = Files.readAllBytes(shard);

    bytes[bytes.length / 2] ^= 1;
    Files.write(shard, bytes);
    assertThatThrownBy(() -> Dataset.open(directory).verify())
        .isInstanceOf(InputException.class)
        .hasMessageContaining("data-00001.arrow");

    Files.write(shard, Arrays.copyOf(bytes, bytes.length - 8));
    assertThatThrownBy(() -> Dataset.open(directory))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("cut short or replaced");

    Files.delete(shard);
    assertThatThrownBy(() -> Dataset.open(directory))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("missing");
  }

  @Test
  void aDatasetJsonThatWasEditedIsRefused() throws IOException {
    write(directory, Sequences.random(10, 4, 50), 500);
    Path file = directory.resolve("dataset.json");
    String json = Files.readString(file);

    for (String edited :
        List.of(
            json.replaceFirst("\"version\" : 1", "\"version\" : 2"),
            json.replaceFirst("draftmill-dataset", "something"),
            json.replaceFirst("\"sha256\" : \"..", "\"sha256\" : \"zz"),
            json.replace("data-00000.arrow", "../data-00000.arrow"),
            json.replaceFirst("\"tokens\"", "\"token\""),
            json.replaceFirst("\"sequences\" : ", "\"sequences\" : 1"),
            json.replaceFirst("\"longest\" : ", "\"longest\" : 1"),
            json.substring(0, json.length() / 2),
            "[]")) {
      Files.writeString(file, edited);
      assertThatThrownBy(() -> Dataset.open(directory))
          .isInstanceOf(InputException.class)
          .hasMessageContaining("dataset.json");
    }
  }

  @Test
  void aDirectoryWithoutADatasetIsRefused() {
    assertThatThrownBy(() -> Dataset.open(directory))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("make one with prepare");
  }
}
