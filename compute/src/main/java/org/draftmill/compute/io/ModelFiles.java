package org.draftmill.compute.io;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.draftmill.compute.InputException;

/**
 * The weights of a Hugging Face model folder: a single {@code model.safetensors}, or the shards
 * that {@code model.safetensors.index.json} names. Shards are opened when a tensor of theirs is
 * asked for, so who needs two tensors touches two files.
 */
public final class ModelFiles implements AutoCloseable {
  static final String SINGLE = "model.safetensors";
  static final String INDEX = "model.safetensors.index.json";

  private final Path folder;
  private final Map<String, Path> places;
  private final Map<Path, SafetensorsFile> open;

  private ModelFiles(Path folder, Map<String, Path> places, Map<Path, SafetensorsFile> open) {
    this.folder = folder;
    this.places = places;
    this.open = open;
  }

  /** Finds the weights of {@code folder}; the index wins when both forms are there. */
  public static ModelFiles open(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new InputException(folder + ": is not a folder with a model in it.");
    }
    Path index = folder.resolve(INDEX);
    if (InputFile.isNamed(index)) {
      return new ModelFiles(folder, placesOf(folder, index), new HashMap<>());
    }
    Path single = folder.resolve(SINGLE);
    if (!InputFile.isNamed(single)) {
      throw new InputException(
          "%s: holds neither %s nor %s; only safetensors weights can be read."
              .formatted(folder, SINGLE, INDEX));
    }
    SafetensorsFile file = SafetensorsFile.open(single);
    Map<String, Path> places = new TreeMap<>();
    file.tensors().keySet().forEach(name -> places.put(name, single));
    return new ModelFiles(folder, places, new HashMap<>(Map.of(single, file)));
  }

  private static Map<String, Path> placesOf(Path folder, Path index) {
    JsonConfig config = JsonConfig.read(index);
    JsonConfig map =
        config
            .object("weight_map")
            .orElseThrow(() -> new InputException(index + ": has no 'weight_map'."));
    Map<String, Path> places = new TreeMap<>();
    for (String name : map.keys()) {
      places.put(name, shard(folder, index, map.text(name)));
    }
    return places;
  }

  /** A shard must be a plain file name, so that no index reaches out of its folder. */
  private static Path shard(Path folder, Path index, String name) {
    boolean plain =
        name.endsWith(".safetensors")
            && name.chars().noneMatch(c -> c == '/' || c == '\\' || c == ':' || c < ' ');
    if (!plain) {
      throw new InputException(
          "%s: names the shard '%s'; a shard is a file '*.safetensors' in the same folder."
              .formatted(index, name));
    }
    return folder.resolve(name);
  }

  public Path folder() {
    return folder;
  }

  public Set<String> names() {
    return places.keySet();
  }

  public boolean contains(String name) {
    return places.containsKey(name);
  }

  /** The tensor of that name, or an {@link InputException} when there is none. */
  public StoredTensor tensor(String name) {
    Path place = places.get(name);
    if (place == null) {
      throw new InputException(
          "%s: its weights have no tensor '%s' (there are %d)."
              .formatted(folder, name, places.size()));
    }
    return open.computeIfAbsent(place, SafetensorsFile::open).tensor(name);
  }

  @Override
  public void close() {
    open.values().forEach(SafetensorsFile::close);
    open.clear();
  }
}
