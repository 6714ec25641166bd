package org.draftmill.compute.target;

import java.util.ArrayList;
import java.util.List;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.DeviceClock;
import org.draftmill.compute.ops.ExactSums;
import org.draftmill.compute.ops.Masters;
import org.draftmill.compute.ops.Ops;
import org.draftmill.compute.ops.Workspace;
import org.draftmill.compute.reference.ReferenceBackend;

/** Keeps the workspaces that it made, to count what they hold as well. */
final class TestingBackend implements Backend {
  private final Backend backend = new ReferenceBackend();
  private final List<Workspace> workspaces = new ArrayList<>();

  @Override
  public long bytesHeld() {
    return backend.bytesHeld() + workspaces.stream().mapToLong(Workspace::bytesHeld).sum();
  }

  int workspacesMade() {
    return workspaces.size();
  }

  @Override
  public String name() {
    return backend.name();
  }

  @Override
  public Ops ops() {
    return backend.ops();
  }

  @Override
  public Workspace workspace() {
    Workspace workspace = backend.workspace();
    workspaces.add(workspace);
    return workspace;
  }

  @Override
  public ExactSums exactSums(int size) {
    return backend.exactSums(size);
  }

  @Override
  public Masters masters(float[] weights, int from, int to) {
    return backend.masters(weights, from, to);
  }

  @Override
  public DeviceClock clock() {
    return backend.clock();
  }

  @Override
  public double encodingSeconds() {
    return backend.encodingSeconds();
  }

  @Override
  public void close() {
    backend.close();
  }
}
