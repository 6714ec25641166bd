package org.draftmill.operators.target;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.draftmill.compute.DType;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.target.Forward;
import org.draftmill.compute.target.Taps;
import org.draftmill.compute.target.TargetConfig;
import org.draftmill.compute.target.TargetModel;
import org.draftmill.corpus.TokenizedSequence;
import org.draftmill.corpus.dataset.Dataset;
import org.draftmill.operators.gpu.DeviceLease;
import org.draftmill.operators.gpu.LeasedBackend;
import org.draftmill.operators.jobs.ExtractionJob;
import org.draftmill.serializers.HiddenDType;

/** A model folder and a dataset on the local file system. Each subtask has a model of its own. */
final class ModelExtractor implements HiddenStateExtractor {
  private final Dataset dataset;
  private final Backend backend;
  private final TargetModel model;
  private final Taps taps;
  private final boolean finalStates;

  private ModelExtractor(
      Dataset dataset, Backend backend, TargetModel model, Taps taps, boolean finalStates) {
    this.dataset = dataset;
    this.backend = backend;
    this.model = model;
    this.taps = taps;
    this.finalStates = finalStates;
  }

  /** Loads the model, as far as the taps need it, and opens the dataset. */
  static ModelExtractor open(TargetSettings settings, DeviceLease device) throws IOException {
    Dataset dataset = Dataset.open(Path.of(settings.dataset()));
    TargetConfig config = TargetConfig.read(Path.of(settings.model()));
    Taps taps = new Taps(settings.taps());
    Backend backend = LeasedBackend.open(device, settings.threads(), settings.products());
    try {
      TargetModel.Parts parts =
          TargetModel.Parts.forExtraction(config, taps, settings.finalStates());
      TargetModel model = TargetModel.load(config, parts, backend);
      return new ModelExtractor(dataset, backend, model, taps, settings.finalStates());
    } catch (RuntimeException e) {
      backend.close();
      throw e;
    }
  }

  @Override
  public PackedBatch prepare(ExtractionJob job) {
    long[] ids = job.sequenceIds();
    int[] starts = new int[ids.length + 1];
    int[] inputIds = new int[job.tokens()];
    byte[] lossMask = new byte[job.tokens()];
    for (int d = 0; d < ids.length; d++) {
      TokenizedSequence sequence = sequence(job, ids[d]);
      int end = starts[d] + sequence.length();
      if (end > job.tokens()) {
        throw otherDataset(job);
      }
      System.arraycopy(sequence.inputIds(), 0, inputIds, starts[d], sequence.length());
      System.arraycopy(sequence.lossMask(), 0, lossMask, starts[d], sequence.length());
      starts[d + 1] = end;
    }
    if (starts[ids.length] != job.tokens()) {
      throw otherDataset(job);
    }
    return new PackedBatch(job, inputIds, lossMask, starts);
  }

  private TokenizedSequence sequence(ExtractionJob job, long id) {
    if (id < 0 || id >= dataset.size()) {
      throw otherDataset(job);
    }
    return dataset.sequence(id);
  }

  private InputException otherDataset(ExtractionJob job) {
    return new InputException(
        "The sequences of %s are not those of the dataset %s: the plan was made for another one; plan again."
            .formatted(job, dataset.directory()));
  }

  @Override
  public HiddenStates forward(PackedBatch batch) throws InterruptedException {
    return new OfForward(
        model.forward(batch.inputIds(), batch.documentStarts(), taps, finalStates));
  }

  @Override
  public DeviceSeconds deviceSeconds() {
    return new DeviceSeconds(model.forwardSeconds(), backend.encodingSeconds());
  }

  @Override
  public void close() {
    model.close();
    backend.close();
  }

  private record OfForward(Forward forward) implements HiddenStates {
    @Override
    public boolean allFinite() {
      return forward.allFinite();
    }

    @Override
    public int tapColumns() {
      return forward.tapColumns();
    }

    @Override
    public int finalColumns() {
      return forward.finalColumns();
    }

    @Override
    public void encodeTaps(int from, int to, HiddenDType dtype, ByteBuffer destination) {
      forward.encodeTaps(from, to, of(dtype), destination);
    }

    @Override
    public void encodeFinal(int from, int to, HiddenDType dtype, ByteBuffer destination) {
      forward.encodeFinal(from, to, of(dtype), destination);
    }

    @Override
    public void close() {
      forward.close();
    }

    private static DType of(HiddenDType dtype) {
      return switch (dtype) {
        case FLOAT32 -> DType.F32;
        case BFLOAT16 -> DType.BF16;
        case FLOAT16 -> DType.F16;
      };
    }
  }
}
