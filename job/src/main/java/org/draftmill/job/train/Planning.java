package org.draftmill.job.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.corpus.io.ByteSources;
import org.draftmill.corpus.io.InputFile;
import org.draftmill.corpus.plan.Plan;
import org.draftmill.corpus.plan.PlanManifest;
import org.draftmill.corpus.plan.PlanOptions;
import org.draftmill.corpus.plan.PlanWriter;
import org.draftmill.job.console.OutputFolder;
import org.draftmill.operators.jobs.JobsOptions;

/** Gives a run its plan: the one that lies there if it agrees with the options, else a new one. */
final class Planning {
  private Planning() {}

  /**
   * @throws InputException if the plan that lies there is of another dataset or was made with other
   *     options; each is named
   */
  static Plan planOf(Dataset dataset, Path directory, PlanOptions options) throws IOException {
    if (!InputFile.isNamed(directory.resolve(Plan.FILE))) {
      OutputFolder.require(JobsOptions.PLAN.key(), directory);
      PlanWriter.write(dataset.planInput(), options, directory);
    }
    Plan plan = Plan.read(ByteSources.directory(directory));
    requireAgreement(plan.manifest(), dataset, directory, options);
    return plan;
  }

  private static void requireAgreement(
      PlanManifest plan, Dataset dataset, Path directory, PlanOptions options) {
    List<String> differences = new ArrayList<>();
    if (!plan.dataset().equals(dataset.fingerprint().hex())) {
      differences.add("it was made for another dataset than jobs.dataset = " + dataset.directory());
    }
    PlanOptions made = plan.options();
    compare(differences, "jobs.epochs", made.epochs(), options.epochs());
    compare(differences, "jobs.token-budget", made.tokenBudget(), options.tokenBudget());
    compare(differences, "jobs.bucket-bounds", made.bounds().upper(), options.bounds().upper());
    compare(differences, "jobs.oversized", made.oversized().option(), options.oversized().option());
    if (!differences.isEmpty()) {
      throw new InputException(
          "The plan in %s does not agree with this run: %s. Change the options, or give another jobs.plan."
              .formatted(directory, String.join("; ", differences)));
    }
  }

  private static void compare(List<String> differences, String key, Object made, Object wanted) {
    if (!made.equals(wanted)) {
      differences.add("%s was %s and is %s".formatted(key, made, wanted));
    }
  }
}
