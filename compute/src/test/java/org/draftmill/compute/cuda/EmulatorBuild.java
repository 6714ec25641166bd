package org.draftmill.compute.cuda;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compiles the emulator's driver and the kernels with the host's compiler, into {@code
 * target/emulator}; what was compiled from the same sources is taken as it is.
 */
final class EmulatorBuild {
  private static final Path MODULE = module();
  static final Path KERNELS = MODULE.resolve("src/main/resources/kernels");

  private static final Path NATIVE = MODULE.resolve("src/test/native");
  private static final Path OUTPUT = MODULE.resolve("target/emulator");
  private static final Pattern KERNEL = Pattern.compile("__global__ void (\\w+)\\(");

  private EmulatorBuild() {}

  /**
   * The folder of this module, whichever module's tests run: this class lies in its {@code target},
   * in a folder or in a jar.
   */
  private static Path module() {
    try {
      URI place = EmulatorBuild.class.getProtectionDomain().getCodeSource().getLocation().toURI();
      return Path.of(place).getParent().getParent();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

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
    Path folder = OUTPUT.resolve("driver-" + hash(files(NATIVE, ".cpp", ".h", ".map", ".sh")));
    return build(folder.resolve("libcuda.so.1"), "driver", folder.toString());
  }

  /** The library that stands in for {@code libcublas.so.12}. */
  static Path cublas() {
    return driver().resolveSibling("libcublas.so.12");
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
    sources.addAll(files(NATIVE, "device_language.h", "kernel_library.h", "build.sh"));
    Path folder = OUTPUT.resolve("kernels-" + hash(sources, text));
    Path library = folder.resolve(family + ".so");
    Path source = folder.resolve(family + ".cu");
    if (!Files.exists(library)) {
      create(folder);
      write(source, text);
    }
    return build(library, "kernels", source.toString(), folder.toString());
  }

  private static Path build(Path result, String... arguments) {
    if (!Files.exists(result)) {
      List<String> command = new ArrayList<>(List.of(NATIVE.resolve("build.sh").toString()));
      command.addAll(List.of(arguments));
      Outcome outcome = run(command);
      if (outcome.code() != 0) {
        throw new CompilationFailed(outcome.output());
      }
    }
    return result;
  }

  /** Links driver and kernels into a folder, and says by which variables they are found there. */
  static Map<String, String> environment(Path folder, int devices) throws IOException {
    Files.createDirectories(folder);
    for (Path library :
        Stream.concat(
                Stream.of(driver(), cublas()), kernelSources().stream().map(EmulatorBuild::kernels))
            .toList()) {
      Files.createSymbolicLink(folder.resolve(library.getFileName()), library);
    }
    return Map.of(
        "LD_LIBRARY_PATH", folder.toString(),
        "CUDA_EMULATOR_KERNELS", folder.toString(),
        "CUDA_EMULATOR_DEVICES", Integer.toString(devices));
  }

  /** All {@code .cu} files. */
  static List<Path> kernelSources() {
    return files(KERNELS, ".cu");
  }

  /** The names of the kernels in a source. */
  static List<String> names(String source) {
    return KERNEL.matcher(source).results().map(result -> result.group(1)).toList();
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
          read(MODULE.resolve("src/test/java/org/draftmill/compute/cuda/EmulatorBuild.java"))
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

  /** Runs a program to its end. */
  static Outcome run(List<String> command) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      if (command.contains("kernels")) {
        builder.environment().put("EMULATOR_DRIVER", driver().getParent().toString());
      }
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Outcome(process.waitFor(), output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
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
