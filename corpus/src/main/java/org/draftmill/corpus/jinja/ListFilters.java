package org.draftmill.corpus.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.draftmill.corpus.jinja.Filters.Filter;

/** The filters that work on lists and mappings. */
final class ListFilters {
  static final Map<String, Filter> ALL =
      Map.ofEntries(
          Map.entry("batch", ListFilters::batch),
          Map.entry("dictsort", ListFilters::sortMap),
          Map.entry("first", (r, v, a) -> end(v, true)),
          Map.entry("last", (r, v, a) -> end(v, false)),
          Map.entry("groupby", ListFilters::group),
          Map.entry("items", ListFilters::items),
          Map.entry("join", ListFilters::join),
          Map.entry("list", (r, v, a) -> new ArrayList<>(Values.list(v))),
          Map.entry("map", ListFilters::map),
          Map.entry("max", (r, v, a) -> extreme(v, a, 1)),
          Map.entry("min", (r, v, a) -> extreme(v, a, -1)),
          Map.entry("reject", (r, v, a) -> select(r, v, a, false)),
          Map.entry("select", (r, v, a) -> select(r, v, a, true)),
          Map.entry("rejectattr", (r, v, a) -> selectByAttribute(r, v, a, false)),
          Map.entry("selectattr", (r, v, a) -> selectByAttribute(r, v, a, true)),
          Map.entry("reverse", ListFilters::reverse),
          Map.entry("slice", ListFilters::slice),
          Map.entry("sort", ListFilters::sort),
          Map.entry("sum", ListFilters::sum),
          Map.entry("unique", ListFilters::unique));

  private ListFilters() {}

  /** The elements; each counts as a step. */
  private static List<Object> list(Rendering rendering, Object value) {
    List<Object> list = Values.list(value);
    rendering.step(list.size());
    return list;
  }

  private static Object end(Object value, boolean first) {
    List<Object> list = Values.list(value);
    return list.isEmpty()
        ? new Undefined("an element of an empty list")
        : list.get(first ? 0 : list.size() - 1);
  }

  private static Object items(Rendering rendering, Object value, Arguments arguments) {
    if (value instanceof Undefined) {
      return List.of();
    }
    if (value instanceof Map<?, ?> map) {
      return MapMethods.call(map, "items", Arguments.NONE);
    }
    throw JinjaException.runtime("items needs a mapping, not %s", Values.typeName(value));
  }

  private static Object join(Rendering rendering, Object value, Arguments arguments) {
    String separator = Values.text(arguments.get(0, "d", ""));
    Function<Object, Object> attribute = attribute(arguments.get(1, "attribute", null));
    StringBuilder out = new StringBuilder();
    boolean first = true;
    for (Object item : list(rendering, value)) {
      out.append(first ? "" : separator).append(Values.text(attribute.apply(item)));
      first = false;
      rendering.checkSize(out.length());
    }
    return out.toString();
  }

  /** What a dotted path such as {@code function.name} or {@code 0} leads to. */
  private static Function<Object, Object> attribute(Object path) {
    if (path == null) {
      return Function.identity();
    }
    if (Values.isWhole(path)) {
      return item -> Members.item(item, path);
    }
    String[] steps = Values.text(path).split("\\.");
    return item -> {
      Object value = item;
      for (String step : steps) {
        value = Members.item(value, step.matches("\\d{1,9}") ? (Object) Long.valueOf(step) : step);
      }
      return value;
    };
  }

  private static Object map(Rendering rendering, Object value, Arguments arguments) {
    List<Object> mapped = new ArrayList<>();
    if (arguments.count() == 0) {
      Function<Object, Object> attribute = attribute(arguments.require(0, "attribute"));
      boolean hasDefault = arguments.named().containsKey("default");
      for (Object item : list(rendering, value)) {
        Object found = attribute.apply(item);
        mapped.add(
            hasDefault && found instanceof Undefined ? arguments.named().get("default") : found);
      }
      return mapped;
    }
    String name = Values.text(arguments.positional().get(0));
    Filter filter = Filters.find(name);
    if (filter == null) {
      throw JinjaException.unsupported("the filter '%s' is not known", name);
    }
    for (Object item : list(rendering, value)) {
      mapped.add(filter.apply(rendering, item, arguments.from(1)));
    }
    return mapped;
  }

  private static Object select(
      Rendering rendering, Object value, Arguments arguments, boolean wanted) {
    List<Object> selected = new ArrayList<>();
    for (Object item : list(rendering, value)) {
      if (Tests.named(rendering, item, arguments, 0) == wanted) {
        selected.add(item);
      }
    }
    return selected;
  }

  private static Object selectByAttribute(
      Rendering rendering, Object value, Arguments arguments, boolean wanted) {
    Function<Object, Object> attribute = attribute(arguments.require(0, "attribute"));
    List<Object> selected = new ArrayList<>();
    for (Object item : list(rendering, value)) {
      if (Tests.named(rendering, attribute.apply(item), arguments, 1) == wanted) {
        selected.add(item);
      }
    }
    return selected;
  }

  private static Object reverse(Rendering rendering, Object value, Arguments arguments) {
    return value instanceof String
        ? Members.slice(rendering, value, null, null, -1)
        : Members.slice(rendering, list(rendering, value), null, null, -1);
  }

  private static Comparator<Object> order(Arguments arguments, int place, Object path) {
    boolean caseSensitive = arguments.flag(place, "case_sensitive", false);
    return Comparator.comparing(
        attribute(path).andThen(key -> caseSensitive ? key : folded(key)), Values::compare);
  }

  private static Object folded(Object key) {
    return key instanceof String text ? text.toLowerCase(Locale.ROOT) : key;
  }

  private static Object sort(Rendering rendering, Object value, Arguments arguments) {
    List<Object> sorted = new ArrayList<>(list(rendering, value));
    Comparator<Object> order = order(arguments, 1, null);
    Object paths = arguments.get(2, "attribute", null);
    if (paths instanceof String several) {
      order = null;
      for (String path : several.split(",")) {
        Comparator<Object> next = order(arguments, 1, path);
        order = order == null ? next : order.thenComparing(next);
      }
    } else if (paths != null) {
      order = order(arguments, 1, paths);
    }
    sorted.sort(arguments.flag(0, "reverse", false) ? order.reversed() : order);
    return sorted;
  }

  private static Object sortMap(Rendering rendering, Object value, Arguments arguments) {
    List<Object> entries =
        new ArrayList<>(list(rendering, items(rendering, value, Arguments.NONE)));
    String by = arguments.text(1, "by", "key");
    Comparator<Object> order = order(arguments, 0, by.equals("value") ? 1L : 0L);
    entries.sort(arguments.flag(2, "reverse", false) ? order.reversed() : order);
    return entries;
  }

  private static Object extreme(Object value, Arguments arguments, int sign) {
    Comparator<Object> order = order(arguments, 0, arguments.get(1, "attribute", null));
    return Values.list(value).stream()
        .reduce((a, b) -> sign * order.compare(b, a) > 0 ? b : a)
        .orElseGet(() -> new Undefined("the extreme of an empty list"));
  }

  private static Object sum(Rendering rendering, Object value, Arguments arguments) {
    Function<Object, Object> attribute = attribute(arguments.get(0, "attribute", null));
    Object sum = arguments.get(1, "start", 0L);
    for (Object item : list(rendering, value)) {
      sum = Operators.apply(rendering, "+", sum, attribute.apply(item));
    }
    return sum;
  }

  private static Object unique(Rendering rendering, Object value, Arguments arguments) {
    boolean caseSensitive = arguments.flag(0, "case_sensitive", false);
    Function<Object, Object> attribute = attribute(arguments.get(1, "attribute", null));
    Map<Object, Object> seen = new LinkedHashMap<>();
    for (Object item : list(rendering, value)) {
      Object key = attribute.apply(item);
      seen.putIfAbsent(Values.key(caseSensitive ? key : folded(key)), item);
    }
    return new ArrayList<>(seen.values());
  }

  private static Object group(Rendering rendering, Object value, Arguments arguments) {
    Object path = arguments.require(0, "attribute");
    Function<Object, Object> attribute = attribute(path);
    List<Object> sorted = new ArrayList<>(list(rendering, value));
    sorted.sort(order(arguments, 2, path));
    List<Object> groups = new ArrayList<>();
    List<Object> members = null;
    Object last = null;
    for (Object item : sorted) {
      Object key = attribute.apply(item);
      if (members == null || !Values.equal(folded(key), folded(last))) {
        members = new ArrayList<>();
        groups.add(Tuple.of(key, members));
        last = key;
      }
      members.add(item);
    }
    return groups;
  }

  private static Object batch(Rendering rendering, Object value, Arguments arguments) {
    int size = arguments.integer(0, "linecount", 1);
    if (size < 1) {
      throw JinjaException.runtime("batch needs a positive size, not %d", size);
    }
    List<Object> items = list(rendering, value);
    List<Object> batches = new ArrayList<>();
    for (int from = 0; from < items.size(); from += size) {
      List<Object> batch =
          new ArrayList<>(items.subList(from, (int) Math.min(items.size(), (long) from + size)));
      fill(rendering, batch, size, arguments);
      batches.add(batch);
    }
    return batches;
  }

  private static Object slice(Rendering rendering, Object value, Arguments arguments) {
    int slices = arguments.integer(0, "slices", 1);
    rendering.checkSize(slices);
    rendering.step(Math.max(0, slices));
    if (slices < 1) {
      throw JinjaException.runtime("slice needs a positive number of slices, not %d", slices);
    }
    List<Object> items = list(rendering, value);
    int each = items.size() / slices;
    int longer = items.size() % slices;
    List<Object> result = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < slices; i++) {
      int to = from + each + (i < longer ? 1 : 0);
      List<Object> part = new ArrayList<>(items.subList(from, to));
      if (i >= longer && longer > 0) {
        fill(rendering, part, each + 1, arguments);
      }
      result.add(part);
      from = to;
    }
    return result;
  }

  private static void fill(Rendering rendering, List<Object> to, int size, Arguments arguments) {
    Object filling = arguments.get(1, "fill_with", null);
    if (filling != null && to.size() < size) {
      rendering.checkSize(size);
      rendering.step(size);
      to.addAll(Collections.nCopies(size - to.size(), filling));
    }
  }
}
