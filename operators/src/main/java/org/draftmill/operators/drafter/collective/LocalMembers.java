package org.draftmill.operators.drafter.collective;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where the members of one process find each other's memory. A process that runs several drafters
 * shares one instance among them; its id, sent along in the rendezvous, tells which members share
 * it.
 */
public final class LocalMembers implements AutoCloseable {
  private final UUID process = UUID.randomUUID();
  private final Map<Key, LocalLink> links = new ConcurrentHashMap<>();

  /** Members with the same id can exchange through memory. */
  public UUID process() {
    return process;
  }

  /** The one link of {@code group} that leads from a rank to a rank; made by whoever asks first. */
  LocalLink link(UUID group, int from, int to) {
    return links.computeIfAbsent(new Key(group, from, to), key -> new LocalLink(from, to));
  }

  /** One end leaves; the link is forgotten when both have. */
  void leave(UUID group, int from, int to, String who) {
    links.computeIfPresent(new Key(group, from, to), (key, link) -> link.close(who) ? null : link);
  }

  /** Links that are not left by both ends. */
  int open() {
    return links.size();
  }

  @Override
  public void close() {
    links.values().forEach(link -> link.close("its process"));
    links.clear();
  }

  private record Key(UUID group, int from, int to) {}
}
