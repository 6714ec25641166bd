package org.draftmill.compute.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.draftmill.compute.DType;
import org.draftmill.compute.OpCases;
import org.draftmill.compute.OpCases.OpCase;
import org.draftmill.compute.host.PoisonedMemory;
import org.draftmill.compute.ops.Backend;
import org.draftmill.compute.ops.Matrix;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Faults planted in kernels and in the code that launches them, each of which the emulator or the
 * comparison with the reference must notice.
 */
@Tag(CudaEmulator.TAG)
@ExtendWith({CudaEmulator.class, PoisonedMemory.class})
class MutationTest {
  @TempDir Path folder;

  private static final OpCase ROWS = named("embed, gather, scatter 37");
  private static final OpCase ELEMENTS = named("swiglu 3x17");
  private static final OpCase BIAS = named("add, bias 3x17");
  private static final OpCase ROPE = named("rope 3x17");
  private static final OpCase NORM = named("norm 5x3x12");

  private static final OpCase STEP = named("step of a shard");
  private static final OpCase LAST_STEP = named("step of the last shard");

  /** Rows that begin 36 bytes behind a border. */
  private static final OpCase VIEW =
      new OpCase(
          "view",
          (ops, in, results) -> {
            Matrix out = in.undefined(4, 9);
            ops.add(in.random(5, 9).rows(1, 5), in.random(4, 9), out);
            results.add(out.toArray());
          });

  private static final OpCase WIDE_NORM =
      new OpCase(
          "wide norm",
          (ops, in, results) -> {
            Matrix x = in.random(40, 700);
            Matrix weight = in.random(1, 700);
            Matrix out = in.undefined(40, 700);
            ops.rmsNorm(x, weight, 1e-6f, out);
            results.add(out.toArray());
            Matrix dWeight = in.random(1, 700);
            ops.rmsNormBackward(x, weight, 1e-6f, in.random(40, 700), out, dWeight);
            results.add(out.toArray());
            results.add(dWeight.toArray());
          });

  /** Through both streams and all number formats, in several chunks. */
  private static final OpCase TRANSFERS =
      new OpCase(
          "transfers",
          (ops, in, results) -> {
            int columns = 10_001;
            Matrix sum = in.undefined(1, columns);
            Matrix x = in.random(1, columns);
            ops.add(x, x, sum);
            for (int i = 0; i < 20; i++) {
              ops.add(sum, x, sum);
            }
            ByteBuffer bytes = ByteBuffer.allocate(3 * 2 * columns);
            for (int i = 0; i < 3; i++) {
              in.memory().encode(sum, DType.BF16, bytes);
            }
            Matrix back = in.undefined(3, columns);
            in.memory().decode(bytes.flip(), DType.BF16, back);
            results.add(back.toArray());
          });

  private static final OpCase LINEAR = named("linear 7x65x31");

  /** A product that goes straight to the host, by the other stream. */
  private static final OpCase ENCODED_PRODUCT =
      new OpCase(
          "encoded product",
          (ops, in, results) -> {
            Matrix out = in.undefined(4, 6);
            ops.linear(in.random(4, 8), in.memory().arrange(in.random(6, 8)), out);
            ByteBuffer bytes = ByteBuffer.allocate(4 * 24);
            in.memory().encode(out, DType.F32, bytes);
            Matrix back = in.undefined(4, 6);
            in.memory().decode(bytes.flip(), DType.F32, back);
            results.add(back.toArray());
          });

  private static OpCase named(String name) {
    return OpCases.all().stream().filter(op -> op.name().equals(name)).findFirst().orElseThrow();
  }

  private static Arguments mutant(
      String fault, OpCase op, String file, String text, String instead) {
    return Arguments.of(new Mutant(fault, file, text, instead), op);
  }

  static Stream<Arguments> mutants() {
    return Stream.of(
        mutant(
            "no barrier from write to read",
            WIDE_NORM,
            "norms.cu",
            "    __syncthreads();\n    sum = warps[0];",
            "    sum = warps[0];"),
        mutant(
            "no barrier from read to write",
            WIDE_NORM,
            "norms.cu",
            "    __syncthreads();  // the last sums have been read\n",
            ""),
        mutant("no barrier", ROPE, "rope.cu", "  __syncthreads();\n", ""),
        mutant(
            "a barrier for some threads",
            ROPE,
            "rope.cu",
            "  __syncthreads();\n",
            "  if (threadIdx.x < 10) __syncthreads();\n"),
        mutant(
            "a wrong column", ROWS, "rows.cu", "outColumns + column;", "outColumns + column + 1;"),
        mutant(
            "one value too many at the end",
            BIAS,
            "elementwise.cu",
            "a + b, i.count)",
            "a + b, i.count + 1)"),
        mutant("one thread too many", TRANSFERS, "convert.cu", "if (i < n)", "if (i <= n)"),
        mutant(
            "a value that nobody writes",
            ROWS,
            "rows.cu",
            "      starts[targets] = below + equal;\n",
            ""),
        mutant(
            "an index beside a shared array",
            BIAS,
            "reductions.cu",
            "for (int w = 1; w < WARPS; w++)",
            "for (int w = 1; w <= WARPS; w++)"),
        mutant(
            "two blocks that write the same place",
            WIDE_NORM,
            "norms.cu",
            "  int c = static_cast<int>(blockIdx.x) * WARP + lane;",
            "  int c = static_cast<int>(blockIdx.x) / 2 * WARP + lane;"),
        mutant("a wrong sign", ROPE, "rope.cu", "-(b[i] * angle.sin)", "b[i] * angle.sin"),
        mutant(
            "a parameter more",
            ELEMENTS,
            "elementwise.cu",
            "float* out, long long n) {",
            "float* out, long long n, int) {"),
        mutant(
            "swapped arguments",
            ELEMENTS,
            "Elementwise.java",
            "        CudaMatrix.of(gate),\n        CudaMatrix.of(up),\n        to,",
            "        CudaMatrix.of(up),\n        CudaMatrix.of(gate),\n        to,"),
        mutant(
            "an argument of another size",
            NORM,
            "Norms.java",
            "        groups,\n        group);",
            "        (int) groups,\n        group);"),
        mutant("a block too few", BIAS, "Grid.java", "(n + USUAL_THREADS - 1)", "(n - 1)"),
        mutant(
            "memory freed while it is used",
            ROWS,
            "Rows.java",
            "scratch.ints(\"scatter order\", n)",
            "scratch.ints(\"scatter starts\", n)"),
        mutant(
            "no wait for the other stream",
            TRANSFERS,
            "WorkStream.java",
            "    int at = newest;\n",
            "    int at = newest;\n    if (number > 0) return;\n"),
        mutant(
            "a wait for an older event",
            TRANSFERS,
            "WorkStream.java",
            "    if (marks[newest] < number) {",
            "    if (marks[newest] < number - 16) {"),
        mutant(
            "a pinned buffer filled while it is copied",
            TRANSFERS,
            "Transfers.java",
            "      lanes[turn].await();",
            "      lanes[turn].host();"),
        mutant(
            "operands the wrong way round",
            LINEAR,
            "CublasProducts.java",
            "product == Product.LINEAR ? TRANSPOSED : NONE",
            "product == Product.LINEAR ? NONE : TRANSPOSED"),
        mutant(
            "a sum that is not begun anew",
            LINEAR,
            "CublasProducts.java",
            "accumulate ? ONE : ZERO",
            "ONE"),
        mutant(
            "a product that nobody waits for",
            ENCODED_PRODUCT,
            "CublasProducts.java",
            "    launcher.noteUse(a.piece(), b.piece(), c);\n",
            ""),
        mutant(
            "a result read before it came", TRANSFERS, "Transfers.java", "    lane.await();\n", ""),
        mutant(
            "wide loads of any view",
            VIEW,
            "elementwise.cu",
            "i.count == 4 && isWide(x, 0) && isWide(y, 0)",
            "i.count == 4 && isWide(y, 0)"),
        mutant(
            "squares beyond the shard",
            LAST_STEP,
            "optimizer.cu",
            "min(BLOCK, to - begin)",
            "min(BLOCK, to + 1 - begin)"),
        mutant(
            "squares in another order",
            named("step alone"),
            "optimizer.cu",
            "__shfl_xor_sync(ALL_LANES, sum, 1)",
            "__shfl_xor_sync(ALL_LANES, sum, 3)"),
        mutant("the moments of another shard", STEP, "optimizer.cu", "first[i - from]", "first[i]"),
        mutant(
            "a fused multiply-add",
            STEP,
            "optimizer.cu",
            "beta1 * m[k] + gain1 * g",
            "fmaf(beta1, m[k], gain1 * g)"),
        mutant(
            "weights beyond the last one",
            LAST_STEP,
            "optimizer.cu",
            "i + k * threads < n ? weights",
            "i + k * threads <= n ? weights"),
        mutant(
            "a hash that goes on from the last one",
            STEP,
            "CudaMasters.java",
            "    launcher.zero(results, Long.BYTES);\n",
            ""),
        mutant(
            "the shard's beginning for that of the update",
            STEP,
            "CudaMasters.java",
            "        (long) from,\n        (long) begin,",
            "        (long) begin,\n        (long) from,"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mutants")
  void isNoticed(Mutant mutant, OpCase op) {
    Mutant.Planted planted = mutant.plant(folder);
    assertThatThrownBy(
            () -> {
              try (Backend backend = planted.open()) {
                compare(op, backend);
              } finally {
                mutant.remove();
              }
            })
        .isInstanceOf(Throwable.class);
  }

  @Test
  void aSumOfFloatsByAtomicsDoesNotCompile() {
    Mutant mutant =
        new Mutant(
            "a sum of floats by atomics",
            "norms.cu",
            "    accumulated[c] += total;",
            "    atomicAdd(accumulated + c, total);");
    assertThatThrownBy(() -> mutant.plant(folder))
        .isInstanceOf(EmulatorBuild.CompilationFailed.class)
        .hasMessageContaining("atomicAdd(float*, float&)");
  }

  @Test
  void withoutAFaultAllIsWell() {
    try (Backend backend = CudaBackend.open(0, Mutant.STAGING)) {
      for (OpCase op :
          List.of(ROWS, ELEMENTS, BIAS, ROPE, NORM, WIDE_NORM, STEP, LAST_STEP, VIEW, TRANSFERS)) {
        compare(op, backend);
      }
    }
  }

  @Test
  void withoutAFaultAllIsWellByCublas() {
    try (Backend backend = CudaBackend.open(0, MatrixProducts.CUBLAS)) {
      for (OpCase op : List.of(LINEAR, ENCODED_PRODUCT)) {
        compare(op, backend);
      }
    }
  }

  private static void compare(OpCase op, Backend backend) {
    try (Backend reference = new RoundingReference()) {
      List<float[]> found = op.on(backend);
      List<float[]> expected = op.on(reference);
      for (int r = 0; r < expected.size(); r++) {
        for (int i = 0; i < expected.get(r).length; i++) {
          double difference = Math.abs(found.get(r)[i] - expected.get(r)[i]);
          assertThat(difference).isLessThanOrEqualTo(3e-5 + 3e-5 * Math.abs(expected.get(r)[i]));
        }
      }
    }
  }
}
