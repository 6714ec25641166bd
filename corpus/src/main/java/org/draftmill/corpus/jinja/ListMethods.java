package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.List;

/** Methods of lists; those that change a list are refused, as the sandbox does. */
final class ListMethods {
  private ListMethods() {}

  static boolean isMethod(String name) {
    return switch (name) {
      case "index", "count", "copy", "append", "extend", "insert", "pop", "remove", "sort" -> true;
      case "reverse", "clear" -> true;
      default -> false;
    };
  }

  static Object call(List<Object> list, String name, Arguments arguments) {
    switch (name) {
      case "copy":
        return new ArrayList<>(list);
      case "count":
        Object counted = arguments.require(0, "value");
        return list.stream().filter(item -> Values.equal(item, counted)).count();
      case "index":
        Object wanted = arguments.require(0, "value");
        for (int i = 0; i < list.size(); i++) {
          if (Values.equal(list.get(i), wanted)) {
            return (long) i;
          }
        }
        throw JinjaException.runtime("the list does not hold %s", Values.repr(wanted));
      default:
        throw JinjaException.unsupported(
            "'%s' would change a list, which the sandbox of chat templates forbids", name);
    }
  }
}
