package org.draftmill.corpus.dataset;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.draftmill.corpus.Fingerprint;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.io.Digests;

/**
 * The content of {@code dataset.json}.
 *
 * @param fingerprint SHA-256 over the tokenizer's checksum and those of all shards, in order
 * @param target the model for which it was prepared, for people to read
 * @param tokenizerSha256 checksum of the target's tokenizer.json
 * @param maxLength the most tokens of a sequence that were accepted; 0 where there was no limit
 * @param sequences number of sequences
 * @param tokens number of tokens
 * @param supervisedTokens number of tokens with a mask of one
 * @param longest tokens of the longest sequence
 * @param rejected number of rejected rows by reason
 * @param shards the files in order; sequence ids count through them
 */
public record DatasetManifest(
    String fingerprint,
    String target,
    String tokenizerSha256,
    int maxLength,
    long sequences,
    long tokens,
    long supervisedTokens,
    int longest,
    Map<String, Long> rejected,
    List<Shard> shards) {
  static final String FORMAT = "draftmill-dataset";
  static final int VERSION = 1;

  /** Checksum of a tokenizer that nobody knows, for ids that come from elsewhere. */
  public static final String UNKNOWN_TOKENIZER = "0".repeat(64);

  /**
   * One file.
   *
   * @param file its name in the dataset's directory
   * @param bytes its length
   * @param sha256 its checksum
   */
  public record Shard(
      String file,
      long sequences,
      long tokens,
      long supervisedTokens,
      int longest,
      long bytes,
      String sha256) {
    /**
     * @throws InputException if the name leads out of the directory or a count is negative
     */
    public Shard {
      if (file.isEmpty() || file.contains("/") || file.contains("\\") || file.startsWith(".")) {
        throw new InputException("it lists the shard '" + file + "', which is no file name.");
      }
      if (sequences < 0 || tokens < 0 || bytes < 0) {
        throw new InputException("it gives negative counts for the shard " + file + ".");
      }
    }
  }

  /**
   * What a dataset is made from.
   *
   * @param target the model, for people to read
   * @param tokenizerSha256 checksum of its tokenizer.json, or {@link #UNKNOWN_TOKENIZER}
   * @param maxLength the most tokens of a sequence; 0 where there is no limit
   */
  public record Origin(String target, String tokenizerSha256, int maxLength) {}

  /**
   * @throws InputException if the fingerprint or the totals do not belong to the shards
   */
  public DatasetManifest {
    rejected = Collections.unmodifiableMap(new TreeMap<>(rejected));
    shards = List.copyOf(shards);
    if (!fingerprint.equals(fingerprint(tokenizerSha256, shards).hex())) {
      throw new InputException(
          "its fingerprint does not belong to the shards that it lists; it was edited or damaged.");
    }
    if (!total(shards).equals(new ShardStats(sequences, tokens, supervisedTokens, longest))) {
      throw new InputException(
          "its totals are not those of the shards that it lists; it was edited or damaged.");
    }
  }

  private static ShardStats total(List<Shard> shards) {
    ShardStats all = ShardStats.NONE;
    for (Shard shard : shards) {
      all =
          all.plus(
              new ShardStats(
                  shard.sequences(), shard.tokens(), shard.supervisedTokens(), shard.longest()));
    }
    return all;
  }

  /** Adds the shards up. */
  public static DatasetManifest of(Origin origin, List<Shard> shards, Map<String, Long> rejected) {
    ShardStats all = total(shards);
    return new DatasetManifest(
        fingerprint(origin.tokenizerSha256(), shards).hex(),
        origin.target(),
        origin.tokenizerSha256(),
        origin.maxLength(),
        all.sequences(),
        all.tokens(),
        all.supervisedTokens(),
        all.longest(),
        rejected,
        shards);
  }

  private static Fingerprint fingerprint(String tokenizerSha256, List<Shard> shards) {
    StringBuilder text = new StringBuilder(FORMAT + " 1\ntokenizer " + tokenizerSha256 + "\n");
    for (Shard shard : shards) {
      text.append(shard.sequences()).append(' ').append(shard.sha256()).append('\n');
    }
    return Fingerprint.of(
        Digests.sha256().digest(text.toString().getBytes(StandardCharsets.UTF_8)));
  }
}
