package org.draftmill.job.train;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.draftmill.compute.InputException;
import org.draftmill.job.console.Text;

/**
 * What a run will take, before it starts.
 *
 * @param items what lies in this process's memory
 * @param gpus what lies on each GPU of a kind
 * @param diskBytes of checkpoints, drafter states and exports, at most
 */
public record MemoryEstimate(List<Item> items, List<Item> gpus, long diskBytes) {
  public MemoryEstimate {
    items = List.copyOf(items);
    gpus = List.copyOf(gpus);
  }

  /**
   * @param name of the part
   * @param detail how it comes about
   * @param option what makes it smaller
   */
  public record Item(String name, String detail, long bytes, String option) {}

  public long bytes() {
    return items.stream().mapToLong(Item::bytes).sum();
  }

  /**
   * Of a run.
   *
   * @param autoIsGpu whether the device {@code auto} is a GPU where the run will be
   */
  public static MemoryEstimate of(ResolvedRun run, boolean autoIsGpu) {
    return Estimates.of(run, autoIsGpu);
  }

  /** The estimate as aligned lines. */
  public List<String> table(long availableBytes) {
    return table("of " + Text.bytes(availableBytes) + " there are");
  }

  /** The same where it is not known how much there is. */
  public List<String> table() {
    return table("in all processes");
  }

  private List<String> table(String memory) {
    List<List<String>> rows = new ArrayList<>();
    for (Item item : items) {
      rows.add(List.of(item.name(), item.detail(), Text.bytes(item.bytes())));
    }
    rows.add(List.of("memory", memory, Text.bytes(bytes())));
    for (Item item : gpus) {
      rows.add(List.of("GPU", "of each " + item.name(), Text.bytes(item.bytes())));
    }
    rows.add(List.of("disk", "checkpoints, states, exports", Text.bytes(diskBytes)));
    return Text.table(rows);
  }

  /**
   * @param availableBytes memory that this process may take
   * @param gpuBytes memory of the smallest GPU, where that is known
   * @throws InputException if the run cannot fit; it names the largest part and how to make it
   *     smaller
   */
  public void requireFit(long availableBytes, OptionalLong gpuBytes, long freeDiskBytes) {
    if (bytes() > availableBytes) {
      Item largest = items.get(0);
      for (Item item : items) {
        largest = item.bytes() > largest.bytes() ? item : largest;
      }
      throw new InputException(
          "This run needs about %s of memory where %s are there. The largest part is %s (%s): lower %s, or give the process more memory (DRAFTMILL_JAVA_OPTS=-Xmx…)."
              .formatted(
                  Text.bytes(bytes()),
                  Text.bytes(availableBytes),
                  largest.name(),
                  Text.bytes(largest.bytes()),
                  largest.option()));
    }
    for (Item item : gpus) {
      if (gpuBytes.isPresent() && item.bytes() > gpuBytes.getAsLong()) {
        throw new InputException(
            "A %s needs about %s of its GPU's memory, and the smallest GPU has %s: lower %s."
                .formatted(
                    item.name(),
                    Text.bytes(item.bytes()),
                    Text.bytes(gpuBytes.getAsLong()),
                    item.option()));
      }
    }
    if (diskBytes > freeDiskBytes) {
      throw new InputException(
          "The checkpoints of this run need up to %s where %s are free: make room, lower checkpoint.keep or drafter.keep-exports, or choose another run.dir."
              .formatted(Text.bytes(diskBytes), Text.bytes(freeDiskBytes)));
    }
  }
}
