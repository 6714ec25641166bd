package org.draftmill.corpus.jinja;

import java.util.AbstractList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The functions that every template may call. */
final class Globals {
  static final Map<String, Object> FUNCTIONS =
      Map.of(
          "range", (Callable) Globals::range,
          "dict", (Callable) Globals::dict,
          "namespace", (Callable) Globals::namespace,
          "joiner", (Callable) Globals::joiner,
          "raise_exception", (Callable) Globals::raise,
          "strftime_now", (Callable) Globals::now);

  private Globals() {}

  private static Object range(Rendering rendering, Arguments arguments) {
    boolean single = arguments.count() == 1;
    long from = single ? 0 : Values.whole(arguments.require(0, "start"));
    long to = Values.whole(arguments.require(single ? 0 : 1, "stop"));
    long step = arguments.count() > 2 ? Values.whole(arguments.positional().get(2)) : 1;
    if (step == 0) {
      throw JinjaException.runtime("the step of a range is zero");
    }
    double span = ((double) to - from) / step;
    rendering.checkSize((long) span);
    int size = (int) Math.max(0, Math.ceil(span));
    return new AbstractList<Object>() {
      @Override
      public Object get(int index) {
        return from + index * step;
      }

      @Override
      public int size() {
        return size;
      }
    };
  }

  private static Map<Object, Object> dict(Rendering rendering, Arguments arguments) {
    Map<Object, Object> dict = new LinkedHashMap<>();
    if (arguments.count() > 0) {
      Object source = arguments.positional().get(0);
      if (source instanceof Map<?, ?> map) {
        dict.putAll(map);
      } else {
        for (Object pair : Values.list(source)) {
          List<Object> entry = Values.list(pair);
          if (entry.size() != 2) {
            throw JinjaException.runtime("dict needs pairs, not %d elements", entry.size());
          }
          dict.put(Values.key(entry.get(0)), entry.get(1));
        }
      }
    }
    dict.putAll(arguments.named());
    return dict;
  }

  private static Namespace namespace(Rendering rendering, Arguments arguments) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    dict(rendering, arguments).forEach((name, value) -> attributes.put(Values.text(name), value));
    return new Namespace(attributes);
  }

  private static Callable joiner(Rendering rendering, Arguments arguments) {
    String separator = arguments.text(0, "sep", ", ");
    UnaryOperator<String> once =
        new UnaryOperator<>() {
          private boolean used;

          @Override
          public String apply(String text) {
            boolean first = !used;
            used = true;
            return first ? "" : text;
          }
        };
    return (again, none) -> once.apply(separator);
  }

  private static Object raise(Rendering rendering, Arguments arguments) {
    throw new JinjaException(
        JinjaException.Kind.RAISED, Values.text(arguments.get(0, "message", "")));
  }

  private static Object now(Rendering rendering, Arguments arguments) {
    return Strftime.format(rendering.now(), Values.text(arguments.require(0, "format")));
  }
}
