package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Path;
import org.draftmill.compute.InputException;
import org.draftmill.compute.cuda.CudaBackend;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.io.BoundedFile;
import org.draftmill.corpus.io.Digests;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.operators.jobs.JobsOptions;

/** Finds what is damaged or does not belong together before a cluster starts and work is done. */
public final class InputCheck {
  private InputCheck() {}

  /**
   * Reads plan and dataset whole, and of the target's weights all headers.
   *
   * @throws org.draftmill.corpus.InputException naming the file of plan or dataset that is damaged
   * @throws InputException naming the target's tensor that is missing or of another shape, or if
   *     its heads are too large for a GPU that is asked for, or the dataset is of another tokenizer
   */
  public static void verify(ResolvedRun run) throws IOException {
    requireHeads(run);
    TargetModel.requireWeights(run.targetConfig());
    Dataset dataset = Dataset.open(Path.of(run.jobs().dataset()));
    requireTokenizer(dataset, run.targetConfig().folder());
    if (run.options().get(JobsOptions.VERIFY)) {
      run.plan().verify();
      dataset.verify();
    }
  }

  /** The drafter's heads are as large as the target's. */
  private static void requireHeads(ResolvedRun run) {
    if (run.target().device().equals(CudaBackend.NAME)
        || run.drafter().device().equals(CudaBackend.NAME)) {
      run.targetConfig().requireHeads(CudaBackend.NAME, CudaBackend.LARGEST_HEAD);
    }
  }

  private static void requireTokenizer(Dataset dataset, Path target) throws IOException {
    DatasetManifest manifest = dataset.manifest();
    Path file = target.resolve("tokenizer.json");
    if (manifest.tokenizerSha256().equals(DatasetManifest.UNKNOWN_TOKENIZER)
        || !InputFile.isNamed(file)) {
      return;
    }
    String found = Digests.sha256Hex(BoundedFile.bytes(file, BoundedFile.TOKENIZER));
    if (!found.equals(manifest.tokenizerSha256())) {
      throw new InputException(
          "The dataset %s was prepared for %s with a tokenizer whose SHA-256 is %s, but that of %s is %s: its ids would mean other text. Prepare it for this target."
              .formatted(
                  dataset.directory(), manifest.target(), manifest.tokenizerSha256(), file, found));
    }
  }
}
