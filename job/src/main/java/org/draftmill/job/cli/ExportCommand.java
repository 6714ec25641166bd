package org.draftmill.job.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.draftmill.compute.InputException;
import org.draftmill.compute.drafter.DrafterExport;
import org.draftmill.compute.drafter.DrafterStateFiles;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.ExitCode;
import org.draftmill.job.console.OutputFolder;
import org.draftmill.job.run.DrafterStates;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code draftmill export}: a checkpoint's drafter in the layout that serving engines load. */
@Command(
    name = "export",
    description = {
      "Writes the drafter of a checkpoint as vLLM and SGLang load it.",
      "A run does this by itself for each checkpoint, below export/."
    })
public final class ExportCommand implements Callable<Integer> {
  private final Console console;

  @Option(
      names = "--checkpoint",
      required = true,
      paramLabel = "DIR",
      description = "A run directory (its last state), or one state of it: drafter/step-NNNNNNNN.")
  private Path checkpoint;

  @Option(names = "--out", required = true, paramLabel = "DIR", description = "A new directory.")
  private Path out;

  public ExportCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    if (InputFile.isNamed(out)) {
      throw new InputException(out + " exists already; give a new directory.");
    }
    InputFile.requireFolder(checkpoint);
    try (DrafterStateFiles states = DrafterStateFiles.open(DrafterStates.newest(checkpoint))) {
      states.verify();
      OutputFolder.require("--out", out.toAbsolutePath().getParent());
      DrafterExport.write(out, states.config(), states.weights());
      console.say("the drafter before step " + states.step());
    }
    console.result("drafter: " + out);
    return ExitCode.DONE;
  }
}
