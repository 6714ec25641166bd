package org.draftmill.box;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Flink's jars: a distribution, or a folder of the same layout that was gathered from Maven. */
public record FlinkHome(Path root) {
  public FlinkHome {
    root = root.toAbsolutePath().normalize();
  }

  /**
   * @throws BoxException if there is no Flink
   */
  static FlinkHome of(Path root) {
    FlinkHome home = new FlinkHome(root);
    if (!Files.isDirectory(home.lib()) || home.jars().isEmpty()) {
      throw BoxException.unusable(
          "There is no Flink in %s: its folder lib/ holds no jars. Set FLINK_HOME to a distribution, or unset it to take Flink from Maven.",
          home.root);
    }
    return home;
  }

  Path lib() {
    return root.resolve("lib");
  }

  Path plugins() {
    return root.resolve("plugins");
  }

  List<Path> jars() {
    try (Stream<Path> files = Files.list(lib())) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot list " + lib(), e);
    }
  }

  String classPath() {
    return jars().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }
}
