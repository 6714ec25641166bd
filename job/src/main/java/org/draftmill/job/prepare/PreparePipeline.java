package org.draftmill.job.prepare;

import java.nio.file.Path;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.assigners.SimpleSplitAssigner;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputFileConfig;
import org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.BasePathBucketAssigner;

/**
 * The batch job behind {@code prepare}: lines → sequences → Arrow shards and rejects. All of it is
 * one chain, so what a subtask reads it also writes, a file for each range.
 */
final class PreparePipeline {
  private PreparePipeline() {}

  static void build(StreamExecutionEnvironment env, PrepareSettings settings) {
    env.setRuntimeMode(RuntimeExecutionMode.BATCH);
    env.setParallelism(settings.parallelism());
    SingleOutputStreamOperator<PreparedRow> sequences =
        env.fromSource(
                rows(settings),
                WatermarkStrategy.noWatermarks(),
                "rows",
                TypeInformation.of(InputRow.class))
            .uid("rows")
            .process(
                new EncodeRows(
                    settings.target().toAbsolutePath().toString(),
                    settings.maxLength(),
                    settings.now()))
            .returns(TypeInformation.of(PreparedRow.class))
            .name("encode")
            .uid("encode");
    sequences.sinkTo(shards(settings.shards())).name("shards").uid("shards");
    sequences
        .getSideOutput(EncodeRows.REJECTED)
        .sinkTo(rejects(settings.rejects()))
        .name("rejects")
        .uid("rejects");
  }

  private static FileSource<InputRow> rows(PrepareSettings settings) {
    return FileSource.forBulkFileFormat(
            new InputFormat(settings.maxUnpackRatio()),
            settings.inputs().stream()
                .map(PreparePipeline::flinkPath)
                .toArray(org.apache.flink.core.fs.Path[]::new))
        .setFileEnumerator(InputRanges::new)
        .setSplitAssigner(SimpleSplitAssigner::new)
        .build();
  }

  private static FileSink<PreparedRow> shards(Path directory) {
    return FileSink.forBulkFormat(flinkPath(directory), new ShardFiles())
        .withBucketAssigner(new BasePathBucketAssigner<>())
        .withRollingPolicy(new OneFilePerRange<>())
        .withOutputFileConfig(OutputFileConfig.builder().withPartPrefix("shard").build())
        .build();
  }

  private static FileSink<RejectedRow> rejects(Path directory) {
    return FileSink.forRowFormat(flinkPath(directory), new RejectsFormat())
        .withBucketAssigner(new BasePathBucketAssigner<>())
        .withRollingPolicy(new OneFilePerRange<>())
        .withOutputFileConfig(OutputFileConfig.builder().withPartPrefix("rejects").build())
        .build();
  }

  static org.apache.flink.core.fs.Path flinkPath(Path path) {
    return new org.apache.flink.core.fs.Path(path.toAbsolutePath().toUri());
  }
}
