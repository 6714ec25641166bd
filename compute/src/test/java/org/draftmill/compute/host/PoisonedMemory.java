package org.draftmill.compute.host;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Memory that nobody has written is poison, for the tests of a class. */
public final class PoisonedMemory implements BeforeAllCallback, AfterAllCallback {
  @Override
  public void beforeAll(ExtensionContext context) {
    System.setProperty(HostWorkspace.POISON, "true");
  }

  @Override
  public void afterAll(ExtensionContext context) {
    System.clearProperty(HostWorkspace.POISON);
  }
}
