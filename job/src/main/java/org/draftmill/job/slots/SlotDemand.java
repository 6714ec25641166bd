package org.draftmill.job.slots;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.operators.SlotSharingGroup;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.SchedulerExecutionMode;
import org.draftmill.compute.InputException;
import org.draftmill.operators.gpu.GpuResource;

/**
 * The task slots that a run asks for: each subtask of each stage has its own.
 *
 * <p>Where nothing computes on a GPU, the slots are Flink's equal ones. Where something does, every
 * slot says what it needs (fine-grained resource management): a slot without a request would get an
 * equal share of its TaskManager, GPUs included, and leave fewer of them than there are targets and
 * drafters.
 */
public record SlotDemand(Stage target, Stage pool, Stage drafter) {

  /** Processor cores of a slot. A TaskManager has, if not told otherwise, as many as slots. */
  static final double CORES = 1;

  /** Heap is counted in these; a request for none at all would be no request. */
  private static final MemorySize LEAST_HEAP = MemorySize.ofMebiBytes(1);

  /**
   * The slots of one stage.
   *
   * @param name of the stage and of its slot sharing group
   * @param slots how many
   * @param gpu whether each has a GPU
   * @param heap of each, for the records that it holds
   */
  public record Stage(String name, int slots, boolean gpu, MemorySize heap) {
    public Stage {
      heap = heap.compareTo(LEAST_HEAP) < 0 ? LEAST_HEAP : heap;
    }

    private String count() {
      return slots + " " + name + (slots == 1 || name.equals("pool") ? "" : "s");
    }
  }

  /** All stages, those with GPUs first. */
  List<Stage> stages() {
    List<Stage> stages = new ArrayList<>(List.of(target, drafter, pool));
    stages.sort((a, b) -> Boolean.compare(b.gpu(), a.gpu()));
    return stages;
  }

  public int slots() {
    return stages().stream().mapToInt(Stage::slots).sum();
  }

  public int gpus() {
    return withGpus().mapToInt(Stage::slots).sum();
  }

  /** "5 targets, 3 drafters": what the GPUs are for. */
  String gpuUsers() {
    return withGpus().map(Stage::count).collect(Collectors.joining(", "));
  }

  /** "5 targets, 1 pool, 3 drafters". */
  String slotUsers() {
    return Stream.of(target, pool, drafter).map(Stage::count).collect(Collectors.joining(", "));
  }

  private Stream<Stage> withGpus() {
    return stages().stream().filter(Stage::gpu);
  }

  /** The slot sharing group of a stage, one of this demand's. */
  public SlotSharingGroup group(Stage stage) {
    SlotSharingGroup.Builder group = SlotSharingGroup.newBuilder(stage.name());
    if (gpus() > 0) {
      group.setCpuCores(CORES).setTaskHeapMemory(stage.heap());
    }
    if (stage.gpu()) {
      group.setExternalResource(GpuResource.NAME, 1);
    }
    return group.build();
  }

  /**
   * @param flink options of the cluster, as far as they are known
   * @throws InputException if the scheduler would not heed what slots ask for
   */
  public void requireScheduler(ReadableConfig flink) {
    boolean adaptive =
        flink.get(JobManagerOptions.SCHEDULER) == JobManagerOptions.SchedulerType.Adaptive
            || flink.get(JobManagerOptions.SCHEDULER_MODE) == SchedulerExecutionMode.REACTIVE;
    if (gpus() > 0 && adaptive) {
      throw new InputException(
          "%s is Adaptive (or %s is REACTIVE): that scheduler ignores what slots ask for, so targets and drafters would start without their GPUs. Set %s to Default."
              .formatted(
                  JobManagerOptions.SCHEDULER.key(),
                  JobManagerOptions.SCHEDULER_MODE.key(),
                  JobManagerOptions.SCHEDULER.key()));
    }
  }
}
