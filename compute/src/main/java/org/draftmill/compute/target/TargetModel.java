package org.draftmill.compute.target;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.draftmill.compute.InputException;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.Ints;
import org.draftmill.compute.ops.Matrix;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.RopeTable;
import org.draftmill.compute.ops.Workspace;

/**
 * The frozen target on one device. Documents are packed one after the other without padding; each
 * sees only itself, so its states are the same to the bit whether it runs alone, packed with
 * others, or token by token through a {@link TargetSession}.
 *
 * <p>Threads: {@link #forward} and sessions are used by one thread at a time, that of the backend.
 * A {@link Forward} may be read and closed by another one meanwhile.
 */
public final class TargetModel implements AutoCloseable {
  /** Results that can be out at the same time: one being packed, one being computed. */
  public static final int RESULTS = 2;

  /**
   * What of the model is needed, so that nothing else is loaded.
   *
   * @param layers decoder layers, counted from the first
   * @param head whether the vocabulary head is needed
   */
  public record Parts(int layers, boolean head) {
    /** What extraction needs: the layers up to the last tap, or all with final states. */
    public static Parts forExtraction(TargetConfig config, Taps taps, boolean withFinal) {
      taps.requireWithin(config.layers());
      return new Parts(withFinal ? config.layers() : taps.last() + 1, false);
    }

    /** What decoding needs. */
    public static Parts all(TargetConfig config) {
      return new Parts(config.layers(), true);
    }
  }

  private final TargetConfig config;
  private final Backend backend;
  private final Workspace weights;
  private final TargetHead head;
  private final List<DecoderLayer> layers;
  private final Matrix finalNorm; // [1, hidden]

  private final Activations activations;
  private final DeviceClock clock;
  private final Workspace indices;
  private final BlockingQueue<ResultBuffer> results = new ArrayBlockingQueue<>(RESULTS);
  private volatile boolean closed;

  private TargetModel(
      TargetConfig config,
      Backend backend,
      Workspace weights,
      TargetHead head,
      List<DecoderLayer> layers,
      Matrix finalNorm) {
    this.config = config;
    this.backend = backend;
    this.weights = weights;
    this.head = head;
    this.layers = layers;
    this.finalNorm = finalNorm;
    this.activations = new Activations(backend, config);
    this.indices = backend.workspace();
    this.clock = backend.clock();
    for (int i = 0; i < RESULTS; i++) {
      results.add(new ResultBuffer(backend));
    }
  }

  /** Loads the whole model in {@code folder}. */
  public static TargetModel load(Path folder, Backend backend) {
    TargetConfig config = TargetConfig.read(folder);
    return load(config, Parts.all(config), backend);
  }

  /**
   * Loads some parts of the model that {@code config} was read from. A missing tensor, or one of
   * another shape than the configuration says, is an {@link InputException} that names it; so is a
   * head that is too large for the device.
   */
  public static TargetModel load(TargetConfig config, Parts parts, Backend backend) {
    config.requireHeads(backend.name(), backend.largestHead());
    Workspace weights = backend.workspace();
    try (WeightReader reader = new WeightReader(config.folder(), backend, weights)) {
      TargetHead head = TargetHead.read(config, reader, weights, parts.head());
      RopeTable rope = config.rope().table(config.heads().headDim());
      List<DecoderLayer> layers = new ArrayList<>();
      for (int layer = 0; layer < parts.layers(); layer++) {
        layers.add(DecoderLayer.read(config, layer, rope, reader));
      }
      Matrix finalNorm = reader.vector("norm.weight", config.hidden());
      return new TargetModel(config, backend, weights, head, layers, finalNorm);
    } catch (RuntimeException e) {
      weights.close();
      throw e;
    }
  }

  /**
   * Checks without a device that the model's folder holds every tensor that its configuration asks
   * for. Only headers are read.
   *
   * @throws InputException naming the first tensor that is missing or of another shape
   */
  public static void requireWeights(TargetConfig config) {
    try (WeightReader reader = WeightReader.checking(config.folder())) {
      reader.embedding(config.vocabulary(), config.hidden());
      if (!config.tiedHead()) {
        reader.head(config.vocabulary(), config.hidden());
      }
      for (int layer = 0; layer < config.layers(); layer++) {
        reader.requireLayer(layer, config.layers());
        DecoderLayer.read(config, layer, null, reader);
      }
      reader.vector("norm.weight", config.hidden());
    }
  }

  public TargetConfig config() {
    return config;
  }

  /** Embedding and vocabulary head, on this model's device and with its lifetime. */
  public TargetHead head() {
    return head;
  }

  /**
   * Runs packed documents through the layers up to the last tap, or through all of them with final
   * states. Waits while all {@value #RESULTS} result buffers are out.
   *
   * @param inputIds {@code [rows]}
   * @param documentStarts {@code [documents + 1]} first row of each document, from 0 to {@code
   *     rows}; positions count from each document's start
   * @param withFinal whether the states after the final norm are wanted, too
   * @throws InputException when an id lies outside the vocabulary
   */
  public Forward forward(int[] inputIds, int[] documentStarts, Taps taps, boolean withFinal)
      throws InterruptedException {
    requireLoaded(Parts.forExtraction(config, taps, withFinal).layers());
    requireIds(inputIds);
    ResultBuffer result = results.take();
    try {
      return forward(inputIds, documentStarts, taps, withFinal, result);
    } catch (RuntimeException | Error e) {
      giveBack(result);
      throw e;
    }
  }

  private Forward forward(
      int[] inputIds, int[] documentStarts, Taps taps, boolean withFinal, ResultBuffer result) {
    int rows = inputIds.length;
    clock.start();
    result.resize(rows, tapColumns(taps), withFinal ? config.hidden() : 0);
    activations.resize(rows);
    DecoderLayer.Attention attention = new PackedAttention(ops(), documentStarts, activations);
    int used = Parts.forExtraction(config, taps, withFinal).layers();
    Matrix tapped = result.taps(rows);
    run(inputIds, positions(documentStarts), used, layer -> attention, taps, tapped);
    boolean finite = ops().allFinite(tapped);
    Matrix finalStates = null;
    if (withFinal) {
      finalStates = result.finalStates(rows);
      normFinal(finalStates);
      finite &= ops().allFinite(finalStates);
    }
    clock.stop();
    return new Forward(this, result, tapped, finalStates, finite);
  }

  /** Which keys and values a layer works with. */
  interface AttentionOfLayer {
    DecoderLayer.Attention of(int layer);
  }

  /**
   * Embeds {@code inputIds} and runs the first {@code used} layers; the residual stream stays in
   * the activations, which have been resized before.
   *
   * @param tapped {@code [rows, K·H]}, or null without taps
   */
  void run(
      int[] inputIds,
      int[] positions,
      int used,
      AttentionOfLayer attention,
      Taps taps,
      Matrix tapped) {
    Ops ops = backend.ops();
    indices.reset();
    Ints devicePositions = indices.ints(positions);
    ops.embed(head.embedding(), indices.ints(inputIds), activations.x());
    for (int layer = 0; layer < used; layer++) {
      layers.get(layer).apply(ops, activations, devicePositions, attention.of(layer));
      int tap = taps == null ? -1 : taps.indexOf(layer);
      if (tap >= 0) {
        ops.copyIntoColumns(activations.x(), tapped, tap * config.hidden());
      }
    }
  }

  /** The final norm of the residual stream; {@code out} {@code [rows, H]}. */
  void normFinal(Matrix out) {
    ops().rmsNorm(activations.x(), finalNorm, config.normEps(), out);
  }

  private static int[] positions(int[] documentStarts) {
    int[] positions = new int[documentStarts[documentStarts.length - 1]];
    for (int document = 0; document + 1 < documentStarts.length; document++) {
      int start = documentStarts[document];
      for (int row = start; row < documentStarts[document + 1]; row++) {
        positions[row] = row - start;
      }
    }
    return positions;
  }

  int tapColumns(Taps taps) {
    return Math.multiplyExact(taps.count(), config.hidden());
  }

  /** Seconds that the device has spent on {@link #forward} so far; any thread may ask. */
  public double forwardSeconds() {
    return clock.seconds();
  }

  /** The operations of the model's device. */
  public Ops ops() {
    return backend.ops();
  }

  Backend backend() {
    return backend;
  }

  Activations activations() {
    return activations;
  }

  void requireLoaded(int needed) {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
    if (needed > layers.size()) {
      throw new IllegalStateException(
          "%d layers are needed, but only %d were loaded".formatted(needed, layers.size()));
    }
  }

  void requireIds(int[] inputIds) {
    for (int row = 0; row < inputIds.length; row++) {
      if (inputIds[row] < 0 || inputIds[row] >= config.vocabulary()) {
        throw new InputException(
            "Row %d of the input is token %d, but the target %s has a vocabulary of %d: the text was tokenized for another model."
                .formatted(row, inputIds[row], config.folder(), config.vocabulary()));
      }
    }
  }

  /**
   * Starts decoding one sequence.
   *
   * @param taps which states to keep of every token, or null for none
   * @param maxLength positions that it can hold
   */
  public TargetSession open(Taps taps, int maxLength) {
    requireLoaded(config.layers());
    head.lmHead();
    return new TargetSession(this, taps, maxLength);
  }

  void giveBack(ResultBuffer result) {
    results.add(result);
    if (closed) {
      closeReturned();
    }
  }

  private void closeReturned() {
    for (ResultBuffer result; (result = results.poll()) != null; ) {
      result.close();
    }
  }

  /** Frees the device; a result that is still out is freed when it is given back. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      closeReturned();
      clock.close();
      indices.close();
      activations.close();
      weights.close();
    }
  }
}
