// Tiles of bf16 in shared memory.
#pragma once
#include "tensor_core.cuh"

// LINES lines of CHUNKS times 16 bytes, copied by THREADS threads. Chunks are permuted within a line so
// that the eight rows of a matrix that ldmatrix reads, and what a quarter of a warp writes, lie in
// different banks.
template <int LINES, int CHUNKS, int THREADS>
struct Slice {
  static constexpr int VALUES = LINES * CHUNKS * 8;
  static constexpr int LINE_STEP = THREADS / CHUNKS;  // lines that all threads copy at once
  static_assert(THREADS % CHUNKS == 0 && LINES % LINE_STEP == 0, "threads divide a slice evenly");

  __device__ __forceinline__ static int place(int line, int chunk) {
    constexpr int REPEAT = CHUNKS >= 8 ? 1 : 8 / CHUNKS;  // lines that share the 128 bytes of all banks
    return (line * CHUNKS + (chunk ^ (line / REPEAT % (CHUNKS < 8 ? CHUNKS : 8)))) * 8;
  }

  // Begins to copy the lines first, first + 1, … of `lines` at `column` of `columns`; what is beyond
  // them is zeroed.
  __device__ __forceinline__ static void copy(bf16* slice, const bf16* from, int stride, int first, int lines,
                                              int column, int columns) {
    int chunk = threadIdx.x % CHUNKS;
    int line = threadIdx.x / CHUNKS;
    bool inside = column + chunk * 8 < columns;
    const bf16* source = from + static_cast<long long>(first + line) * stride + column + chunk * 8;
#pragma unroll
    for (int i = 0; i < LINES; i += LINE_STEP) {
      bool there = inside && first + line + i < lines;
      copyAsync16(slice + place(line + i, chunk), there ? source + static_cast<long long>(i) * stride : from,
                  there ? 0 : 16);
    }
  }
};
