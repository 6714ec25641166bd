package org.draftmill.job.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.draftmill.compute.InputException;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * YAML whose nested groups become flat keys ({@code drafter: {optimizer: {lr: 1}}} is {@code
 * drafter.optimizer.lr}), each with the line it stands on. A list of scalars becomes its flow form,
 * {@code [512, 1024]}, which Flink's list options read.
 */
final class FlatYaml {

  /**
   * A value and where it stands.
   *
   * @param text null where the file says {@code null}: the option is left unset
   * @param place {@code run.yaml, line 7}
   */
  record Entry(String text, String place) {
    /** For an option that takes no list but a text of parts: {@code [1, 3]} is {@code 1,3}. */
    Entry flat() {
      boolean list = text != null && text.startsWith("[") && text.endsWith("]");
      return list ? new Entry(text.substring(1, text.length() - 1).replace(" ", ""), place) : this;
    }
  }

  private static final int LONGEST_KEY = 1000;

  private final String file;
  private final Map<String, Entry> entries = new LinkedHashMap<>();

  private FlatYaml(String file) {
    this.file = file;
  }

  /**
   * @param file the name that errors show
   */
  static Map<String, Entry> parse(String file, String yaml) {
    FlatYaml flat = new FlatYaml(file);
    LoadSettings settings =
        LoadSettings.builder()
            .setLabel(file)
            .setUseMarks(true)
            .setMaxAliasesForCollections(0)
            .build();
    Optional<Node> root;
    try {
      root = new Compose(settings).composeString(yaml);
    } catch (MarkedYamlEngineException e) {
      String place = e.getProblemMark().map(m -> ", line " + (m.getLine() + 1)).orElse("");
      throw new InputException(file + place + ": not valid YAML: " + e.getProblem() + ".", e);
    } catch (YamlEngineException e) {
      throw new InputException(file + ": not valid YAML: " + e.getMessage(), e);
    } catch (StackOverflowError e) {
      throw new InputException(file + ": it is nested too deep to be a run file.", e);
    }
    root.ifPresent(node -> flat.group("", node));
    return flat.entries;
  }

  private void group(String prefix, Node node) {
    if (!(node instanceof MappingNode mapping)) {
      throw new InputException(
          place(node)
              + ": expected groups of options such as `run: {dir: …}`, found another value.");
    }
    if (prefix.length() > LONGEST_KEY) {
      throw new InputException(place(node) + ": it is nested too deep to be a run file.");
    }
    for (NodeTuple tuple : mapping.getValue()) {
      if (!(tuple.getKeyNode() instanceof ScalarNode name)) {
        throw new InputException(place(tuple.getKeyNode()) + ": a key must be a plain word.");
      }
      String key = prefix + name.getValue();
      Node value = tuple.getValueNode();
      if (value instanceof MappingNode) {
        group(key + ".", value);
      } else {
        Entry entry = new Entry(text(key, value), place(name));
        Entry before = entries.putIfAbsent(key, entry);
        if (before != null) {
          throw new InputException(
              entry.place()
                  + ": "
                  + key
                  + " was already given ("
                  + before.place()
                  + "); keep one.");
        }
      }
    }
  }

  private String text(String key, Node node) {
    if (node instanceof ScalarNode scalar) {
      return scalar.getTag().equals(Tag.NULL) ? null : scalar.getValue();
    }
    List<Node> items = ((SequenceNode) node).getValue();
    return items.stream()
        .map(
            item -> {
              if (item instanceof ScalarNode scalar) {
                return scalar.getValue();
              }
              throw new InputException(
                  place(item) + ": " + key + " must be a flat list of values.");
            })
        .collect(Collectors.joining(", ", "[", "]"));
  }

  private String place(Node node) {
    return file + node.getStartMark().map(mark -> ", line " + (mark.getLine() + 1)).orElse("");
  }
}
