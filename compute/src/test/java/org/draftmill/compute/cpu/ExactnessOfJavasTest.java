package org.draftmill.compute.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.draftmill.compute.OpCases;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Results to the bit in Javas of their own: each version that this machine has, with the widths of
 * vectors that they choose on processors with and without AVX-512, AVX2 and AVX. In every one of
 * them each operation runs on 1 to 8 threads, and a training with shuffled microbatches. Those of
 * processors without a fused multiply-add agree among themselves.
 */
@Tag("chaos")
class ExactnessOfJavasTest {
  private static final String WIDTH = "-XX:MaxVectorSize="; // bytes

  private static final List<String> PROCESSORS =
      List.of(
          "-XX:UseAVX=3",
          "-XX:UseAVX=2",
          "-XX:UseAVX=1",
          "-XX:UseAVX=0",
          WIDTH + "64",
          WIDTH + "32",
          WIDTH + "16");

  @Test
  void sameBitsInEveryJavaWithEveryWidthOnAnyThreads() throws IOException, InterruptedException {
    Map<Boolean, Map<String, List<String>>> found = new TreeMap<>(); // by fused multiply-add
    for (Path home : homes()) {
      for (String processor : PROCESSORS) {
        String java = home.getFileName() + " " + processor;
        List<String> lines = fingerprints(home, processor);
        assertThat(lines).as(java).hasSizeGreaterThan(OpCases.all().size());
        found
            .computeIfAbsent(Boolean.valueOf(lines.get(0)), fused -> new LinkedHashMap<>())
            .put(java, lines);
      }
    }

    for (Map<String, List<String>> alike : found.values()) {
      List<String> first = alike.values().iterator().next();
      assertThat(alike).allSatisfy((java, lines) -> assertThat(lines).isEqualTo(first));
    }
  }

  /** The lines of {@link Fingerprints} but for the width of vectors, which is checked here. */
  private static List<String> fingerprints(Path home, String processor)
      throws IOException, InterruptedException {
    Process java =
        new ProcessBuilder(
                home.resolve("bin/java").toString(),
                "-XX:+IgnoreUnrecognizedVMOptions",
                processor,
                "--add-modules=jdk.incubator.vector",
                "-cp",
                System.getProperty("java.class.path"),
                Fingerprints.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(java.waitFor()).as("%s %s: %s", home, processor, output).isZero();
    List<String> lines =
        output
            .lines()
            .filter(line -> line.startsWith(Fingerprints.MARK))
            .map(line -> line.substring(Fingerprints.MARK.length()))
            .toList();
    if (processor.startsWith(WIDTH)) {
      assertThat(Integer.parseInt(lines.get(0)))
          .as("bits of a vector in %s with %s", home, processor)
          .isLessThanOrEqualTo(Byte.SIZE * Integer.parseInt(processor.substring(WIDTH.length())));
    }
    return lines.subList(1, lines.size());
  }

  /** This Java and the others beside it, or those of {@code draftmill.java.homes}. */
  private static List<Path> homes() throws IOException {
    List<Path> homes = new ArrayList<>();
    Path own = Path.of(System.getProperty("java.home")).toRealPath();
    homes.add(own);
    String given = System.getProperty("draftmill.java.homes", "");
    if (!given.isEmpty()) {
      for (String home : given.split(",")) {
        homes.add(Path.of(home).toRealPath());
      }
      return homes.stream().distinct().toList();
    }
    try (Stream<Path> beside = Files.list(own.getParent())) {
      for (Path home : beside.sorted().toList()) {
        if (Files.isExecutable(home.resolve("bin/java")) && version(home) >= 17) {
          homes.add(home.toRealPath());
        }
      }
    }
    return homes.stream().distinct().toList();
  }

  private static int version(Path home) throws IOException {
    Path release = home.resolve("release");
    if (!Files.isRegularFile(release)) {
      return 0;
    }
    String key = "JAVA_VERSION=\"";
    for (String line : Files.readAllLines(release)) {
      if (line.startsWith(key)) {
        return Integer.parseInt(line.substring(key.length()).split("[^0-9]")[0]);
      }
    }
    return 0;
  }
}
