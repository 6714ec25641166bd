package org.draftmill.job.cli;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.compute.decoding.DecodingFigures;
import org.draftmill.compute.decoding.DecodingSettings;
import org.draftmill.corpus.text.TargetText;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.console.OutputFolder;
import org.draftmill.job.evaluate.Evaluation;
import org.draftmill.job.evaluate.FiguresReport;
import org.draftmill.job.evaluate.Prompts;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code draftmill evaluate}: how well a drafter serves its target. */
@Command(
    name = "evaluate",
    description = {
      "Decodes prompts with the target alone and with the drafter, and compares them.",
      "Says the acceptance length, the speed-up, and whether greedy output is the target's own, token for token."
    })
public final class EvaluateCommand implements Callable<Integer> {
  private final Console console;

  @Option(
      names = "--target",
      required = true,
      paramLabel = "DIR",
      description = "The target's Hugging Face folder.")
  private Path target;

  @Option(
      names = "--drafter",
      required = true,
      paramLabel = "DIR",
      description = "An exported drafter, export/latest of a run say.")
  private Path drafter;

  @Option(
      names = "--prompts",
      required = true,
      paramLabel = "FILE",
      description = "JSONL of chats (`messages`) or plain text (`text`).")
  private Path prompts;

  @Option(
      names = "--max-new-tokens",
      defaultValue = "128",
      paramLabel = "N",
      description = "Where a continuation ends at the latest (${DEFAULT-VALUE}).")
  private int maxNewTokens;

  @Option(
      names = "--temperature",
      defaultValue = "0",
      paramLabel = "T",
      description = "0 takes the likeliest token, above it draws (${DEFAULT-VALUE}).")
  private double temperature;

  @Option(
      names = "--seed",
      defaultValue = "0",
      paramLabel = "N",
      description = "Of the draws (${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--limit",
      defaultValue = "0",
      paramLabel = "N",
      description = "Take only the first N prompts; 0 takes all (${DEFAULT-VALUE}).")
  private int limit;

  @Option(
      names = "--device",
      defaultValue = "auto",
      description = "auto, cpu or reference (${DEFAULT-VALUE}).")
  private String device;

  @Option(names = "--threads", paramLabel = "N", description = "CPU threads; by default all cores.")
  private Integer threads;

  @Option(names = "--json", paramLabel = "FILE", description = "Write the figures there, too.")
  private Path json;

  public EvaluateCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    if (limit < 0) {
      throw new InputException("--limit is %d; it must not be negative.".formatted(limit));
    }
    if (json != null) {
      requireWritable(json);
    }
    List<int[]> ids;
    try (TargetText text = TargetText.load(target, ZonedDateTime.now())) {
      ids = Prompts.read(prompts, text, limit);
    }
    int cores = threads == null ? Runtime.getRuntime().availableProcessors() : threads;
    DecodingFigures figures =
        new Evaluation(console, device, cores)
            .exported(target, drafter, ids, new DecodingSettings(maxNewTokens, temperature, seed));
    FiguresReport.lines(figures).forEach(console::result);
    if (json != null) {
      ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
      Files.writeString(json, mapper.writeValueAsString(figures.toMap()) + "\n");
    }
    return ExitCode.DONE;
  }

  /** Before minutes of decoding, not after. */
  private static void requireWritable(Path file) {
    boolean there = Files.exists(file);
    try (var out = Files.newOutputStream(file, CREATE, APPEND)) {
      out.flush();
      if (!there) {
        Files.delete(file.toRealPath()); // not a link to it, which is the user's
      }
    } catch (IOException e) {
      throw new InputException(
          "--json %s cannot be written: %s. Give a file in a directory that is there and may be written to."
              .formatted(file, Files.isDirectory(file) ? "it is a directory" : OutputFolder.why(e)),
          e);
    }
  }
}
