package org.draftmill.job.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.InputException;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.corpus.plan.PlanManifest;

/** Short checksums that tell one plan or one target from another. */
final class Identity {
  private static final int HEX_DIGITS = 16;

  private Identity() {}

  /** Of all job lists of a plan. */
  static String of(Plan plan) {
    StringBuilder lists = new StringBuilder(plan.manifest().dataset());
    for (PlanManifest.Epoch epoch : plan.manifest().epochs()) {
      lists.append('\n').append(epoch.sha256());
    }
    return digest(lists.toString());
  }

  /**
   * Of a model folder: the content of its small files, names and lengths of its weights. Reading
   * terabytes of weights at each start would cost more than it could tell.
   */
  static String of(Path model) {
    try (Stream<Path> list = Files.list(model)) {
      StringBuilder content = new StringBuilder();
      List<Path> files = list.filter(Identity::matters).sorted().toList();
      for (Path file : files) {
        content.append(file.getFileName()).append(' ').append(bytes(file)).append('\n');
        if (file.getFileName().toString().endsWith(".json")) {
          content.append(digest(BoundedFile.text(file, BoundedFile.SMALL))).append('\n');
        }
      }
      return digest(content.toString());
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read the model in " + model, e);
    }
  }

  private static long bytes(Path file) throws IOException {
    return ByteSources.file(file).length();
  }

  /** Of a target's tokenizer. */
  static String ofTokenizer(Path model) {
    Path file = model.resolve("tokenizer.json");
    try {
      return InputFile.isNamed(file)
          ? digest(BoundedFile.text(file, BoundedFile.TOKENIZER))
          : "none";
    } catch (IOException e) {
      throw new InputException("Cannot read the target's " + file + ": " + e.getMessage() + ".", e);
    }
  }

  private static boolean matters(Path file) {
    String name = file.getFileName().toString();
    return name.equals("config.json")
        || name.endsWith(".safetensors")
        || name.endsWith(".safetensors.index.json");
  }

  private static String digest(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HEX_DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
