package org.draftmill.job.cli;

import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.console.Text;
import org.draftmill.job.prepare.Preparation;
import org.draftmill.job.prepare.PrepareSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code draftmill prepare}: text and chats to a dataset. */
@Command(
    name = "prepare",
    description = {
      "Makes a dataset of text and chats.",
      "Tokens come from the target's tokenizer, chats are rendered by its template, and the mask lies on exactly what the target itself would generate."
    })
public final class PrepareCommand implements Callable<Integer> {
  /** More than any machine has cores; each takes memory of its own. */
  private static final int MOST_SUBTASKS = 1024;

  private final Console console;

  @Option(
      names = "--target",
      required = true,
      paramLabel = "DIR",
      description = "The target's Hugging Face folder.")
  private Path target;

  @Option(
      names = "--input",
      required = true,
      arity = "1..*",
      paramLabel = "FILE",
      description =
          "JSONL with `messages`, `conversations` or `text`, also .gz; Arrow files with input_ids and loss_mask; a directory stands for its files.")
  private List<Path> inputs;

  @Option(
      names = "--out",
      required = true,
      paramLabel = "DIR",
      description = "A new directory for the dataset.")
  private Path out;

  @Option(
      names = "--max-length",
      defaultValue = "0",
      paramLabel = "N",
      description = "Reject sequences of more tokens; 0 takes all (${DEFAULT-VALUE}).")
  private int maxLength;

  @Option(
      names = "--parallelism",
      paramLabel = "N",
      description = "Subtasks; by default all cores. The dataset does not depend on it.")
  private Integer parallelism;

  @Option(
      names = "--max-unpack-ratio",
      defaultValue = "200",
      paramLabel = "N",
      description =
          "How many times larger than itself a .gz file may become (${DEFAULT-VALUE}); what grows more is refused as a bomb.")
  private int maxUnpackRatio;

  public PrepareCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    int subtasks = parallelism == null ? Runtime.getRuntime().availableProcessors() : parallelism;
    if (maxLength < 0 || subtasks < 1 || subtasks > MOST_SUBTASKS || maxUnpackRatio < 1) {
      throw new InputException(
          "--max-length must not be negative, --parallelism 1 to %d, --max-unpack-ratio at least 1."
              .formatted(MOST_SUBTASKS));
    }
    DatasetManifest manifest =
        new Preparation(console)
            .run(
                new PrepareSettings(
                    target, inputs, out, maxLength, subtasks, ZonedDateTime.now(), maxUnpackRatio));
    report(manifest).forEach(console::say);
    console.result("dataset: " + out);
    return ExitCode.DONE;
  }

  /** What a dataset holds, in lines. */
  static List<String> report(DatasetManifest manifest) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s sequences, %s tokens, %s of them supervised; the longest has %s tokens"
            .formatted(
                Text.count(manifest.sequences()),
                Text.count(manifest.tokens()),
                Text.count(manifest.supervisedTokens()),
                Text.count(manifest.longest())));
    for (Map.Entry<String, Long> reason : manifest.rejected().entrySet()) {
      lines.add("rejected %s: %s".formatted(reason.getKey(), Text.count(reason.getValue())));
    }
    return lines;
  }
}
