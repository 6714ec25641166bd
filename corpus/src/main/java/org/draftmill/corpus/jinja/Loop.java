package org.draftmill.corpus.jinja;

import java.util.List;

/** The {@code loop} of a for statement. */
final class Loop implements Callable {
  private final List<Object> items;
  private final int depth;
  private final Callable recursion; // null where the loop is not recursive
  private int index = -1;
  private List<Object> changedBefore;

  Loop(List<Object> items, int depth, Callable recursion) {
    this.items = items;
    this.depth = depth;
    this.recursion = recursion;
  }

  void advance() {
    index++;
  }

  int depth() {
    return depth;
  }

  Object attribute(String name) {
    return switch (name) {
      case "index" -> index + 1L;
      case "index0" -> (long) index;
      case "revindex" -> (long) items.size() - index;
      case "revindex0" -> items.size() - index - 1L;
      case "first" -> index == 0;
      case "last" -> index == items.size() - 1;
      case "length" -> (long) items.size();
      case "depth" -> depth + 1L;
      case "depth0" -> (long) depth;
      case "previtem" ->
          index > 0 ? items.get(index - 1) : new Undefined("the item before the first");
      case "nextitem" ->
          index + 1 < items.size()
              ? items.get(index + 1)
              : new Undefined("the item after the last");
      case "cycle" -> (Callable) (rendering, arguments) -> cycle(arguments);
      case "changed" -> (Callable) (rendering, arguments) -> changed(arguments);
      default -> new Undefined("'" + name + "' of loop");
    };
  }

  private Object cycle(Arguments arguments) {
    if (arguments.count() == 0) {
      throw JinjaException.runtime("loop.cycle has nothing to cycle through");
    }
    return arguments.positional().get(index % arguments.count());
  }

  private Object changed(Arguments arguments) {
    boolean same = changedBefore != null && Values.equal(changedBefore, arguments.positional());
    changedBefore = arguments.positional();
    return !same;
  }

  @Override
  public Object call(Rendering rendering, Arguments arguments) {
    if (recursion == null) {
      throw JinjaException.runtime("loop(...) is called, but the loop is not recursive");
    }
    return recursion.call(rendering, arguments);
  }
}
