package org.draftmill.compute.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compiles the emulator's driver and the kernels with the host's compiler, into {@code
 * target/emulator}; what was compiled from the same sources is taken as it is.
 */
final class EmulatorBuild {
  static final Path KERNELS = Path.of("src/main/resources/kernels");

  private static final Path NATIVE = Path.of("src/test/native");
  private static final Path OUTPUT = Path.of("target/emulator").toAbsolutePath();
  private static final List<String> DRIVER =
      List.of("control", "driver", "fibers", "image", "memory", "unsupported");
  private static final Pattern KERNEL =
      Pattern.compile("__global__\\s+(?:__launch_bounds__\\([^)]*\\)\\s+)?void\\s+(\\w+)\\s*\\(");

  private EmulatorBuild() {}

  /** Whether this machine has the compiler. */
  static boolean possible() {
    try {
      return run(List.of("g++", "--version")).code() == 0;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  /** The library that stands in for {@code libcuda.so.1}. */
  static Path driver() {
    List<Path> sources = files(NATIVE, ".cpp", ".h");
    Path library = OUTPUT.resolve("driver-" + hash(sources)).resolve("libcuda.so.1");
    if (!Files.exists(library)) {
      List<Process> compilers = new ArrayList<>();
      Path folder = create(library.getParent());
      Path java = Path.of(System.getProperty("java.home"));
      for (String name : DRIVER) {
        compilers.add(
            start(
                List.of(
                    "g++",
                    "-std=c++17",
                    "-O2",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-fPIC",
                    "-fvisibility=hidden",
                    "-I" + java.resolve("include"),
                    "-I" + java.resolve("include/linux"),
                    "-c",
                    NATIVE.resolve(name + ".cpp").toString(),
                    "-o",
                    folder.resolve(name + ".o").toString())));
      }
      compilers.forEach(EmulatorBuild::require);
      List<String> link =
          new ArrayList<>(List.of("g++", "-shared", "-Wl,-soname,libcuda.so.1", "-o"));
      Path partial = folder.resolve("partial");
      link.add(partial.toString());
      DRIVER.forEach(name -> link.add(folder.resolve(name + ".o").toString()));
      link.add("-ldl");
      require(start(link));
      move(partial, library);
    }
    return library;
  }

  /** The kernels of a file, as a library for the emulator. */
  static Path kernels(Path source) {
    return kernels(source.getFileName().toString().replace(".cu", ""), read(source));
  }

  /**
   * @param text what the file of this family would hold
   */
  static Path kernels(String family, String text) {
    List<Path> sources = files(KERNELS, ".cuh");
    sources.addAll(files(NATIVE, "device_language.h", "kernel_library.h"));
    Path library = OUTPUT.resolve("kernels-" + hash(sources, text)).resolve(family + ".so");
    if (!Files.exists(library)) {
      Path folder = create(library.getParent());
      Path wrapper = folder.resolve(family + ".cpp");
      write(wrapper, text + registration(text));
      Path object = folder.resolve(family + ".o");
      // Accesses are reported one by one: none is merged, none is made for several values at once.
      require(
          start(
              List.of(
                  "g++",
                  "-std=c++17",
                  "-O2",
                  "-march=native",
                  "-ffp-contract=off",
                  "-fno-tree-vectorize",
                  "-fno-store-merging",
                  "-fsanitize=thread",
                  "-Wall",
                  "-Wno-unknown-pragmas",
                  "-Wno-sign-compare",
                  "-Werror",
                  "-fPIC",
                  "-fvisibility=hidden",
                  "-fno-gnu-unique",
                  "-include",
                  NATIVE.resolve("device_language.h").toString(),
                  "-include",
                  NATIVE.resolve("kernel_library.h").toString(),
                  "-I" + KERNELS,
                  "-c",
                  wrapper.toString(),
                  "-o",
                  object.toString())));
      Path partial = folder.resolve("partial");
      require(
          start(
              List.of(
                  "g++",
                  "-shared",
                  "-o",
                  partial.toString(),
                  object.toString(),
                  driver().toString())));
      move(partial, library);
    }
    return library;
  }

  /** All {@code .cu} files. */
  static List<Path> kernelSources() {
    return files(KERNELS, ".cu");
  }

  /** The names of the kernels in a source. */
  static List<String> names(String source) {
    Matcher matcher = KERNEL.matcher(source);
    return matcher.results().map(result -> result.group(1)).toList();
  }

  private static String registration(String source) {
    return names(source).stream()
        .map(name -> "EMULATOR_KERNEL(" + name + ")")
        .collect(Collectors.joining(", ", "\nEMULATOR_KERNELS(", ")\n"));
  }

  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path create(Path folder) {
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Path> files(Path folder, String... endings) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> Stream.of(endings).anyMatch(file.toString()::endsWith))
          .sorted()
          .collect(Collectors.toCollection(ArrayList::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String hash(List<Path> files, String... more) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(System.getProperty("java.home").getBytes(StandardCharsets.UTF_8));
      digest.update(
          read(Path.of("src/test/java/org/draftmill/compute/cuda/EmulatorBuild.java"))
              .getBytes(StandardCharsets.UTF_8));
      for (Path file : files) {
        digest.update(Files.readAllBytes(file));
      }
      for (String text : more) {
        digest.update(text.getBytes(StandardCharsets.UTF_8));
      }
      return HexFormat.of().formatHex(digest.digest(), 0, 8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  record Outcome(int code, String output) {}

  static Outcome run(List<String> command) {
    return finish(start(command));
  }

  private static Process start(List<String> command) {
    try {
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Outcome finish(Process process) {
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Outcome(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void require(Process process) {
    Outcome outcome = finish(process);
    if (outcome.code() != 0) {
      throw new CompilationFailed(outcome.output());
    }
  }

  /** What the compiler did not take. */
  static final class CompilationFailed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CompilationFailed(String output) {
      super(output);
    }
  }
}
