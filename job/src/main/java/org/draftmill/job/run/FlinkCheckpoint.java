package org.draftmill.job.run;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.KeyGroupsStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.draftmill.compute.InputException;
import org.draftmill.operators.drafter.state.ReferenceSerializer;
import org.draftmill.operators.drafter.state.SnapshotReference;
import org.draftmill.operators.drafter.state.StateFiles;
import org.draftmill.operators.restart.Restarts;

/**
 * What Flink keeps of a run at a checkpoint or savepoint.
 *
 * @param id Flink's number of it
 * @param stages with state, in the order of the stream
 * @param files that it refers to
 * @param drafters where the drafters' states lie, each once; empty if none was left at it
 */
public record FlinkCheckpoint(
    long id, List<Stage> stages, List<FileStateHandle> files, List<SnapshotReference> drafters) {
  /** Uid of the stage, and the name of its state. */
  private static final String DRAFTER = "drafter";

  private static final List<String> STAGES =
      List.of("jobs", "target", "pool", "drafter", "log", "dead-letter-limit", "dead-letter");

  /**
   * The state of one operator.
   *
   * @param name its uid, or its id in hexadecimal
   * @param bytes of all its subtasks
   */
  public record Stage(String name, int parallelism, long bytes) {}

  /**
   * @throws InputException if the metadata cannot be read
   * @throws IOException if the storage does not answer just now, which is no damage
   */
  public static FlinkCheckpoint read(Path directory) throws IOException {
    Path file = directory.resolve("_metadata");
    CheckpointMetadata metadata;
    byte[] bytes =
        bytes(() -> Files.newInputStream(file), "The metadata " + file + " cannot be read");
    try {
      metadata =
          Checkpoints.loadCheckpointMetadata(
              new DataInputStream(new ByteArrayInputStream(bytes)),
              FlinkCheckpoint.class.getClassLoader(),
              FlinkAddress.of(directory));
    } catch (IOException | RuntimeException e) {
      String why = e instanceof EOFException ? "it is cut short" : String.valueOf(e.getMessage());
      throw new InputException("The metadata " + file + " cannot be read: " + sentence(why), e);
    }
    List<Stage> stages = new ArrayList<>();
    List<FileStateHandle> files = new ArrayList<>();
    List<SnapshotReference> drafters = new ArrayList<>();
    for (OperatorState operator : metadata.getOperatorStates()) {
      String name =
          operator
              .getOperatorUid()
              .or(operator::getOperatorName)
              .orElse(operator.getOperatorID().toString());
      stages.add(new Stage(name, operator.getParallelism(), operator.getStateSize()));
      operator.getStates().forEach(subtask -> collect(subtask, files));
      if (name.equals(DRAFTER)) {
        readReferences(operator, directory, drafters);
      }
    }
    stages.sort(
        Comparator.comparingInt((Stage stage) -> Math.floorMod(STAGES.indexOf(stage.name()), 99))
            .thenComparing(Stage::name));
    return new FlinkCheckpoint(metadata.getCheckpointId(), stages, files, drafters);
  }

  /** Flink ends some messages with a full stop and some without. */
  private static String sentence(String message) {
    return message.endsWith(".") ? message : message + ".";
  }

  /** Apart from making sense of them: only what is said of that tells of damage for sure. */
  private static byte[] bytes(Source source, String complaint) throws IOException {
    try (InputStream in = source.open()) {
      return in.readAllBytes();
    } catch (IOException e) {
      if (Restarts.mayPass(e)) {
        throw e;
      }
      throw new InputException(complaint + ": " + e.getMessage() + ".", e);
    }
  }

  /** What can be opened. */
  private interface Source {
    InputStream open() throws IOException;
  }

  /** They are small, so they lie in the metadata itself or in one file of a subtask. */
  private static void readReferences(
      OperatorState operator, Path directory, List<SnapshotReference> references)
      throws IOException {
    String complaint =
        "The checkpoint %s is damaged, its reference to a drafter's state cannot be read"
            .formatted(directory);
    for (OperatorSubtaskState subtask : operator.getStates()) {
      for (OperatorStateHandle handle : subtask.getManagedOperatorState()) {
        OperatorStateHandle.StateMetaInfo list =
            handle.getStateNameToPartitionOffsets().get(DRAFTER);
        if (list == null) {
          continue;
        }
        byte[] bytes = bytes(handle::openInputStream, complaint);
        try {
          for (long offset : list.getOffsets()) {
            int start = Math.toIntExact(offset);
            int length = bytes.length - start;
            if (!ReferenceSerializer.isReference(
                new DataInputDeserializer(bytes, start, length).readInt())) {
              return; // compressed, as Flink can be told to
            }
            references.add(
                ReferenceSerializer.INSTANCE
                    .deserialize(new DataInputDeserializer(bytes, start, length))
                    .get());
          }
        } catch (IOException | RuntimeException e) {
          throw new InputException(complaint + ": " + e.getMessage() + ".", e);
        }
      }
    }
  }

  private static void collect(OperatorSubtaskState subtask, List<FileStateHandle> files) {
    Stream<StreamStateHandle> operator =
        Stream.concat(
                subtask.getManagedOperatorState().stream(), subtask.getRawOperatorState().stream())
            .map(OperatorStateHandle::getDelegateStateHandle);
    Stream<StreamStateHandle> keyed =
        Stream.concat(subtask.getManagedKeyedState().stream(), subtask.getRawKeyedState().stream())
            .filter(KeyGroupsStateHandle.class::isInstance)
            .map(
                (KeyedStateHandle handle) ->
                    ((KeyGroupsStateHandle) handle).getDelegateStateHandle());
    Stream.concat(operator, keyed)
        .filter(FileStateHandle.class::isInstance)
        .forEach(handle -> files.add((FileStateHandle) handle));
  }

  /**
   * Reads the drafters' files whole.
   *
   * @param run directory in which the checkpoint was made
   * @throws InputException naming the first file that is missing, of another length or damaged
   */
  public void requireDrafters(Path run) throws IOException {
    StateFiles stateFiles = new StateFiles(run);
    stateFiles.resolve(drafters);
    for (SnapshotReference drafter : drafters) {
      stateFiles.verify(drafter);
    }
  }

  /**
   * @throws InputException naming the first file that is missing or of another length
   */
  public void requireFiles() throws IOException {
    for (FileStateHandle file : files) {
      FileSystem fileSystem = file.getFilePath().getFileSystem();
      long found =
          fileSystem.exists(file.getFilePath())
              ? fileSystem.getFileStatus(file.getFilePath()).getLen()
              : -1;
      if (found < file.getStateSize()) {
        throw new InputException(
            "The checkpoint refers to %d bytes of %s, which %s: it is damaged; resume from another one."
                .formatted(
                    file.getStateSize(),
                    file.getFilePath(),
                    found < 0 ? "is missing" : "has " + found));
      }
    }
  }
}
