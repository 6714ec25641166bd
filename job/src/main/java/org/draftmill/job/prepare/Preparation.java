package org.draftmill.job.prepare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.draftmill.compute.io.Folders;
import org.draftmill.corpus.InputException;
import org.draftmill.corpus.dataset.DatasetAssembler;
import org.draftmill.corpus.dataset.DatasetManifest;
import org.draftmill.corpus.text.TargetText;
import org.draftmill.job.console.Console;
import org.draftmill.job.console.LogFile;
import org.draftmill.job.console.OutputFolder;
import org.draftmill.job.console.Poller;
import org.draftmill.job.console.Text;
import org.draftmill.job.embedded.EmbeddedCluster;
import org.draftmill.job.embedded.RestMetrics;

/** Makes a dataset on an embedded Flink. */
public final class Preparation {
  private static final String ROWS = "draftmill.prepare.rows";
  private static final String TOKENS = "draftmill.prepare.tokens";
  private static final String REJECTED = "draftmill.prepare.rejected";

  private final Console console;

  public Preparation(Console console) {
    this.console = console;
  }

  /**
   * @throws InputException if an input or the target cannot be used, or a dataset lies there
   */
  public DatasetManifest run(PrepareSettings settings) throws Exception {
    DatasetAssembler.requireNone(settings.out());
    for (Path input : settings.inputs()) {
      InputTree.requireReadable(input);
    }
    DatasetManifest.Origin origin = origin(settings);
    begin(settings);
    LogFile.open(settings.work().resolve("prepare.log"));

    List<FileSourceSplit> ranges =
        InputRanges.ranges(settings.inputs().stream().map(PreparePipeline::flinkPath).toList());
    execute(settings);
    return new DatasetFinisher(settings, ranges).finish(origin);
  }

  /** Clears away what an interrupted attempt left. */
  private static void begin(PrepareSettings settings) {
    try {
      Files.createDirectories(settings.out());
      Folders.delete(settings.work());
      Files.deleteIfExists(settings.out().resolve(DatasetFinisher.REJECTS));
      Files.createDirectories(settings.work());
    } catch (IOException e) {
      throw OutputFolder.unwritable("--out", settings.out(), e);
    }
  }

  private static DatasetManifest.Origin origin(PrepareSettings settings) throws IOException {
    try (TargetText text = TargetText.load(settings.target(), settings.now())) {
      return new DatasetManifest.Origin(
          text.name(), text.tokenizer().sha256(), settings.maxLength());
    }
  }

  private void execute(PrepareSettings settings) throws Exception {
    Configuration flink = new Configuration();
    flink.set(PipelineOptions.NAME, "draftmill prepare");
    flink.set(PipelineOptions.OBJECT_REUSE, true);
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(flink);
    PreparePipeline.build(env, settings);
    try (EmbeddedCluster cluster = EmbeddedCluster.start(flink, settings.parallelism(), 0)) {
      JobID job = cluster.submit(env.getStreamGraph());
      RestMetrics metrics = new RestMetrics(cluster.webUi(), job);
      Poller progress = new Poller("draftmill-progress", () -> show(metrics));
      try {
        cluster.await(job);
      } finally {
        progress.close();
        console.live("");
      }
    }
  }

  private void show(RestMetrics metrics) throws IOException, InterruptedException {
    Map<String, Double> sums = metrics.sums(List.of(ROWS, TOKENS, REJECTED));
    if (sums.containsKey(ROWS)) {
      console.live(
          String.format(
              Locale.ROOT,
              "%s rows  %s tokens  %s rejected",
              Text.count(sums.get(ROWS).longValue()),
              Text.shortCount(sums.getOrDefault(TOKENS, 0.0)),
              Text.count(sums.getOrDefault(REJECTED, 0.0).longValue())));
    }
  }
}
