package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is shipped was compiled from the sources as they are. */
class CompiledKernelsTest {
  private static final Path COMPILED = EmulatorBuild.KERNELS.resolve("compiled");
  private static final String COMPILER = "release 13.0";
  private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"(.*)\"$");

  private static List<String> families() {
    return EmulatorBuild.kernelSources().stream()
        .map(source -> source.getFileName().toString().replace(".cu", ""))
        .toList();
  }

  @Test
  void everyFamilyIsThereForEveryArchitecture() {
    Set<String> wanted = new TreeSet<>();
    for (String family : families()) {
      for (int capability : new int[] {80, 89, 90, 100, 120}) {
        wanted.addAll(Kernels.images(family, capability));
      }
    }
    assertThat(names(COMPILED)).isEqualTo(wanted);
  }

  @Test
  void theSourcesAreThoseThatWereCompiled() throws Exception {
    for (String family : families()) {
      String first =
          EmulatorBuild.read(COMPILED.resolve(family + ".ptx")).lines().findFirst().get();
      assertThat(first)
          .as("%s.ptx: run compute/kernels.sh %s", family, family)
          .isEqualTo("// sources: " + checksum(family + ".cu"));
    }
  }

  /** Of a source and its headers, in the order of their names. */
  private static String checksum(String source) throws Exception {
    List<String> files = new ArrayList<>(List.of(source));
    Set<String> headers = new TreeSet<>();
    collectHeaders(source, headers);
    files.addAll(headers);
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    for (String file : files) {
      digest.update(Files.readAllBytes(EmulatorBuild.KERNELS.resolve(file)));
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void collectHeaders(String file, Set<String> headers) {
    INCLUDE
        .matcher(EmulatorBuild.read(EmulatorBuild.KERNELS.resolve(file)))
        .results()
        .map(result -> result.group(1))
        .filter(headers::add)
        .forEach(header -> collectHeaders(header, headers));
  }

  /** The binaries of one architecture stand for all: the script makes them of the same PTX. */
  @Test
  void compilingAgainGivesTheSameBytes(@TempDir Path folder) throws Exception {
    assumeTrue(isThere("nvcc") && isThere("ptxas"), "nvcc 13.0 was not found");
    String version = EmulatorBuild.run(List.of("nvcc", "--version")).output();
    assumeTrue(version.contains(COMPILER), "another nvcc than that of " + COMPILER);
    EmulatorBuild.Outcome outcome =
        EmulatorBuild.run(List.of("./kernels.sh", "--into", folder.toString()));
    assertThat(outcome.code()).as(outcome.output()).isZero();
    assertThat(names(folder)).hasSize(2 * families().size());
    for (String name : names(folder)) {
      assertThat(Files.mismatch(folder.resolve(name), COMPILED.resolve(name)))
          .as("%s is stale: run compute/kernels.sh", name)
          .isEqualTo(-1);
    }
  }

  private static boolean isThere(String program) {
    try {
      return EmulatorBuild.run(List.of(program, "--version")).code() == 0;
    } catch (UncheckedIOException e) {
      return false;
    }
  }

  private static Set<String> names(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void ptxIsOldEnoughForOldDrivers() {
    for (String family : families()) {
      String text = EmulatorBuild.read(COMPILED.resolve(family + ".ptx"));
      assertThat(text).contains("\n.version 7.0\n").contains("\n.target sm_80\n");
    }
  }
}
