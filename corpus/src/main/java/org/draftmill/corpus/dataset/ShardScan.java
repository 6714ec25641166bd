package org.draftmill.corpus.dataset;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.io.Digests;
import org.draftmill.corpus.io.InputFile;

/**
 * What a full reading of a shard finds.
 *
 * @param stats its counts
 * @param sha256 its checksum
 */
record ShardScan(ShardStats stats, String sha256) {
  /**
   * Reads every row and every byte.
   *
   * @throws InputException if a row is damaged or empty
   */
  static ShardScan scan(ArrowShardReader reader) throws IOException {
    ShardStats stats = ShardStats.NONE;
    for (long row = 0; row < reader.rows(); row++) {
      TokenizedSequence sequence = reader.sequence(row);
      if (sequence.length() == 0) {
        throw new InputException(
            "Row %d of the Arrow file %s has no tokens; drop it.".formatted(row, reader.path()));
      }
      stats = stats.plus(sequence);
    }
    MessageDigest digest = Digests.sha256();
    try (InputStream in = new DigestInputStream(InputFile.stream(reader.path()), digest)) {
      in.transferTo(OutputStream.nullOutputStream());
    }
    return new ShardScan(stats, HexFormat.of().formatHex(digest.digest()));
  }

  DatasetManifest.Shard shard(String file, long bytes) {
    return new DatasetManifest.Shard(
        file,
        stats.sequences(),
        stats.tokens(),
        stats.supervisedTokens(),
        stats.longest(),
        bytes,
        sha256);
  }
}
