package org.draftmill.job.slots;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.apache.flink.runtime.rest.messages.ResourceProfileInfo;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagerInfo;
import org.apache.flink.runtime.rest.messages.taskmanager.TaskManagersInfo;
import org.draftmill.job.console.Text;
import org.draftmill.operators.gpu.GpuResource;

/**
 * What the TaskManagers of a cluster have.
 *
 * @param workers the TaskManagers
 */
record ClusterResources(List<Worker> workers) {
  ClusterResources {
    workers = List.copyOf(workers);
  }

  /**
   * One TaskManager.
   *
   * @param slots in all
   * @param freeSlots of equal shares
   * @param gpus in all
   * @param freeGpus no slot has
   * @param freeCores no slot has
   * @param freeHeapMb task heap that no slot has
   */
  record Worker(
      int slots, int freeSlots, int gpus, int freeGpus, double freeCores, long freeHeapMb) {

    static Worker of(TaskManagerInfo info) {
      ResourceProfileInfo free = info.getFreeResource();
      return new Worker(
          info.getNumberSlots(),
          info.getNumberAvailableSlots(),
          gpus(info.getTotalResource()),
          gpus(free),
          free.getCpu(),
          free.getTaskHeapMB());
    }

    private static int gpus(ResourceProfileInfo resources) {
      return resources.getExtendedResources().getOrDefault(GpuResource.NAME, 0.0).intValue();
    }

    private boolean has(SlotDemand.Stage stage) {
      return freeCores >= SlotDemand.CORES
          && freeHeapMb >= stage.heap().getMebiBytes()
          && (!stage.gpu() || freeGpus > 0);
    }

    private Worker without(SlotDemand.Stage stage) {
      return new Worker(
          slots,
          freeSlots,
          gpus,
          stage.gpu() ? freeGpus - 1 : freeGpus,
          freeCores - SlotDemand.CORES,
          freeHeapMb - stage.heap().getMebiBytes());
    }
  }

  static ClusterResources of(TaskManagersInfo info) {
    return new ClusterResources(
        info.getTaskManagerInfos().stream()
            .filter(worker -> !worker.getBlocked())
            .map(Worker::of)
            .toList());
  }

  /** Whether any TaskManager has a GPU, free or not. */
  boolean haveGpus() {
    return sum(Worker::gpus) > 0;
  }

  /** What is missing for a run, as a sentence; empty if it can start. */
  Optional<String> shortage(SlotDemand demand) {
    if (demand.gpus() == 0) {
      int missing = demand.slots() - sum(Worker::freeSlots);
      return missing <= 0
          ? Optional.empty()
          : Optional.of(
              missing(
                  Text.count(demand.slots(), "task slot"),
                  demand.slotUsers(),
                  sum(Worker::slots),
                  sum(Worker::freeSlots),
                  missing));
    }
    int missing = demand.gpus() - sum(Worker::freeGpus);
    return missing <= 0
        ? unplaced(demand)
        : Optional.of(
            missing(
                Text.count(demand.gpus(), "GPU"),
                demand.gpuUsers(),
                sum(Worker::gpus),
                sum(Worker::freeGpus),
                missing));
  }

  private String missing(String needed, String users, int there, int free, int missing) {
    return "This run needs %s (%s), but the cluster has %d, %d of them free, on %s: %d missing."
        .formatted(needed, users, there, free, Text.count(workers.size(), "TaskManager"), missing);
  }

  /** Puts each slot where there is room, as Flink will; says which one found none. */
  private Optional<String> unplaced(SlotDemand demand) {
    List<Worker> left = new ArrayList<>(workers);
    for (SlotDemand.Stage stage : demand.stages()) {
      for (int slot = 0; slot < stage.slots(); slot++) {
        if (!place(stage, left)) {
          return Optional.of(noRoom(stage, slot, left));
        }
      }
    }
    return Optional.empty();
  }

  private static boolean place(SlotDemand.Stage stage, List<Worker> left) {
    for (int w = 0; w < left.size(); w++) {
      if (left.get(w).has(stage)) {
        left.set(w, left.get(w).without(stage));
        return true;
      }
    }
    return false;
  }

  private static String noRoom(SlotDemand.Stage stage, int placed, List<Worker> left) {
    return "This run needs %s for its %s, each of %.0f core, %d MB of task heap%s; %d found room, and what is left then is %s."
        .formatted(
            Text.count(stage.slots(), "slot"),
            stage.name(),
            SlotDemand.CORES,
            stage.heap().getMebiBytes(),
            stage.gpu() ? " and a GPU" : "",
            placed,
            left.stream()
                .map(
                    worker ->
                        "%.1f cores, %d MB, %s"
                            .formatted(
                                worker.freeCores(),
                                worker.freeHeapMb(),
                                Text.count(worker.freeGpus(), "GPU")))
                .collect(Collectors.joining(" | ")));
  }

  private int sum(ToIntFunction<Worker> figure) {
    return workers.stream().mapToInt(figure).sum();
  }
}
