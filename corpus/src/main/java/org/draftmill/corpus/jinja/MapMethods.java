package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Methods of mappings; those that change one are refused, as the sandbox does. */
final class MapMethods {
  private MapMethods() {}

  static boolean isMethod(String name) {
    return switch (name) {
      case "items", "keys", "values", "get", "copy" -> true;
      case "update", "pop", "popitem", "setdefault", "clear" -> true;
      default -> false;
    };
  }

  static Object call(Map<?, ?> map, String name, Arguments arguments) {
    switch (name) {
      case "items":
        List<Object> entries = new ArrayList<>(map.size());
        map.forEach((key, value) -> entries.add(Tuple.of(key, value)));
        return entries;
      case "keys":
        return Arrays.asList(map.keySet().toArray());
      case "values":
        return Arrays.asList(map.values().toArray());
      case "copy":
        return new LinkedHashMap<>(map);
      case "get":
        Object key = Values.key(arguments.require(0, "key"));
        return map.containsKey(key) ? map.get(key) : arguments.get(1, "default", null);
      default:
        throw JinjaException.unsupported(
            "'%s' would change a mapping, which the sandbox of chat templates forbids", name);
    }
  }
}
