package org.draftmill.operators.pool;

import org.apache.flink.configuration.DescribedEnum;
import org.apache.flink.configuration.description.InlineElement;
import org.apache.flink.configuration.description.TextElement;

/** How the pool chooses what to release next. */
public enum ReleaseOrder implements DescribedEnum {
  SEEDED("seeded", "The order is a pure function of plan and seed, whatever the timing."),
  AS_READY("as-ready", "Draws from whatever is ready; promises no order.");

  private final String name;
  private final String description;

  ReleaseOrder(String name, String description) {
    this.name = name;
    this.description = description;
  }

  @Override
  public InlineElement getDescription() {
    return TextElement.text(description);
  }

  @Override
  public String toString() {
    return name;
  }
}
