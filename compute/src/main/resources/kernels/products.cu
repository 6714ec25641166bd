// Matrix products on tensor cores: bf16 operands, sums in fp32.
//
// A block of threads computes a tile of the result. Slices of both operands, DEPTH of the contracted
// index at a time, come through asynchronous copies into a ring of STAGES in shared memory; each warp
// multiplies a part of the tile. Every value is one chain of m16n8k16 products in ascending order of the
// contracted index, whatever the tile, so all tile sizes give the same bits.
#include "shared_tiles.cuh"

// out[rows, stride] = bf16(in[rows, columns]), the columns from `columns` to `stride` zero; overwrites.
// stride is a multiple of 8. Launch: one block a row, any number of threads.
extern "C" __global__ void round_rows(const float* in, uint4* out, int columns, int stride) {
  const float* row = in + static_cast<long long>(blockIdx.x) * columns;
  uint4* to = out + static_cast<long long>(blockIdx.x) * (stride / 8);
  bool wide = columns % 4 == 0 && reinterpret_cast<uintptr_t>(in) % sizeof(float4) == 0;
  for (int chunk = threadIdx.x; chunk < stride / 8; chunk += blockDim.x) {
    float values[8];
#pragma unroll
    for (int half = 0; half < 2; half++) {
      int column = chunk * 8 + half * 4;
      float* four = values + half * 4;
      if (wide) {
        float4 read = make_float4(0, 0, 0, 0);
        if (column < columns) {
          read = load4(row + column);
        }
        four[0] = read.x, four[1] = read.y, four[2] = read.z, four[3] = read.w;
      } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {
          four[i] = column + i < columns ? row[column + i] : 0.0f;
        }
      }
    }
    to[chunk] = make_uint4(packBf16(values[0], values[1]), packBf16(values[2], values[3]),
                           packBf16(values[4], values[5]), packBf16(values[6], values[7]));
  }
}

// How an operand lies in memory: its lines run along the contracted index (DEEP: x and w of x·wᵀ), or
// along the rows or columns of the result (FLAT: w of dOut·w, both of dOutᵀ·x).
enum Layout { DEEP, FLAT };

// What a product is made of: a[m, k] (DEEP) or a[k, m] (FLAT), b[n, k] or b[k, n], c[m, n].
struct Factors {
  const bf16* a;  // lines strideA apart, a multiple of 64; what lies beyond m or k in a line is zero
  const bf16* b;  // the same with strideB
  float* c;       // lines n apart, aligned for 4 bytes
  int m, n, k;
  int strideA, strideB;
  bool accumulate;  // c += a·b, not c = a·b
};

// A tile of ROWS by COLUMNS, by warps that take WARP_ROWS by WARP_COLUMNS of it each.
template <Layout A, Layout B, int ROWS, int COLUMNS, int WARP_ROWS, int WARP_COLUMNS, int DEPTH, int STAGES>
struct Product {
  static constexpr int WARPS_ACROSS = COLUMNS / WARP_COLUMNS;
  static constexpr int THREADS = ROWS / WARP_ROWS * WARPS_ACROSS * WARP;
  static constexpr int STEPS = DEPTH / 16;
  static constexpr int HIGH = WARP_ROWS / 16;   // m16 fragments of a warp
  static constexpr int BROAD = WARP_COLUMNS / 8;  // n8 fragments of a warp
  static constexpr int GROUP = 8;               // tiles of rows that run side by side over all columns

  using SliceA = Slice<A == DEEP ? ROWS : DEPTH, (A == DEEP ? DEPTH : ROWS) / 8, THREADS>;
  using SliceB = Slice<B == DEEP ? COLUMNS : DEPTH, (B == DEEP ? DEPTH : COLUMNS) / 8, THREADS>;
  static constexpr int STAGE = SliceA::VALUES + SliceB::VALUES;

  struct Fragments {
    uint32_t a[HIGH][4];
    uint32_t b[BROAD][2];
  };

  const Factors& f;
  bf16* stages;
  int row, column;          // of the tile
  int warpRow, warpColumn;  // of the warp's part within the tile

  // Neighbouring blocks share rows and columns of the operands, so that these stay in the cache.
  __device__ __forceinline__ Product(const Factors& factors, bf16* shared) : f(factors), stages(shared) {
    int down = (f.m + ROWS - 1) / ROWS;
    int across = (f.n + COLUMNS - 1) / COLUMNS;
    int group = blockIdx.x / (GROUP * across);
    int within = blockIdx.x - group * GROUP * across;
    int high = min(GROUP, down - group * GROUP);
    row = (group * GROUP + within % high) * ROWS;
    column = within / high * COLUMNS;
    int warp = threadIdx.x / WARP;
    warpRow = warp / WARPS_ACROSS * WARP_ROWS;
    warpColumn = warp % WARPS_ACROSS * WARP_COLUMNS;
  }

  // Begins to copy slice number `slice` of both operands, or nothing when there is none.
  __device__ __forceinline__ void copy(int slice, int slices) const {
    if (slice < slices) {
      bf16* a = stages + slice % STAGES * STAGE;
      bf16* b = a + SliceA::VALUES;
      int depth = slice * DEPTH;
      if (A == DEEP) {
        SliceA::copy(a, f.a, f.strideA, row, f.m, depth, f.strideA);
      } else {
        SliceA::copy(a, f.a, f.strideA, depth, f.k, row, f.strideA);
      }
      if (B == DEEP) {
        SliceB::copy(b, f.b, f.strideB, column, f.n, depth, f.strideB);
      } else {
        SliceB::copy(b, f.b, f.strideB, depth, f.k, column, f.strideB);
      }
    }
    copyCommit();
  }

  // The warp's operands of step `step` of a slice.
  __device__ __forceinline__ void fetch(Fragments& to, int slice, int step) const {
    const bf16* a = stages + slice % STAGES * STAGE;
    const bf16* b = a + SliceA::VALUES;
    int lane = threadIdx.x % WARP;
    int in8 = lane % 8, second = lane / 8 % 2, fourth = lane / 16;
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
      int m = warpRow + i * 16;
      if (A == DEEP) {
        loadMatrix4(to.a[i], a + SliceA::place(m + second * 8 + in8, step * 2 + fourth));
      } else {
        loadMatrix4Transposed(to.a[i], a + SliceA::place(step * 16 + fourth * 8 + in8, m / 8 + second));
      }
    }
#pragma unroll
    for (int j = 0; j < BROAD; j += 2) {
      int n = warpColumn + j * 8;
      uint32_t both[4];
      if (B == DEEP) {
        loadMatrix4(both, b + SliceB::place(n + fourth * 8 + in8, step * 2 + second));
      } else {
        loadMatrix4Transposed(both, b + SliceB::place(step * 16 + second * 8 + in8, n / 8 + fourth));
      }
      to.b[j][0] = both[0], to.b[j][1] = both[1], to.b[j + 1][0] = both[2], to.b[j + 1][1] = both[3];
    }
  }

  __device__ __forceinline__ void put(float* to, float first, float second, bool accumulate, bool pair, int left) const {
    if (pair) {
      float2 value = make_float2(first, second);
      if (accumulate) {
        float2 before = *reinterpret_cast<const float2*>(to);
        value = make_float2(before.x + first, before.y + second);
      }
      *reinterpret_cast<float2*>(to) = value;
      return;
    }
    to[0] = accumulate ? to[0] + first : first;
    if (left > 1) {
      to[1] = accumulate ? to[1] + second : second;
    }
  }

  // Stores the sums, or adds them to what is there, and begins new ones.
  __device__ __forceinline__ void store(float (&sums)[HIGH][BROAD][4], bool accumulate) const {
    bool even = f.n % 2 == 0 && reinterpret_cast<uintptr_t>(f.c) % sizeof(float2) == 0;
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        int r = row + warpRow + i * 16 + half * 8 + lane / 4;
        float* line = f.c + static_cast<long long>(r) * f.n;
#pragma unroll
        for (int j = 0; j < BROAD; j++) {
          int c = column + warpColumn + j * 8 + lane % 4 * 2;
          if (r < f.m && c < f.n) {
            put(line + c, sums[i][j][half * 2], sums[i][j][half * 2 + 1], accumulate, even, f.n - c);
          }
          sums[i][j][half * 2] = 0;
          sums[i][j][half * 2 + 1] = 0;
        }
      }
    }
  }

  // `longest`: after how many slices sums are added to the result and begun anew.
  __device__ __forceinline__ void run(int longest) const {
    int slices = (f.k + DEPTH - 1) / DEPTH;
    float sums[HIGH][BROAD][4] = {};
    Fragments fragments[2];
#pragma unroll 1
    for (int slice = 0; slice < STAGES - 1; slice++) {
      copy(slice, slices);
    }
    copyWait<STAGES - 2>();
    __syncthreads();
    fetch(fragments[0], 0, 0);
    bool accumulate = f.accumulate;
    int end = min(longest, slices);
#pragma unroll 1
    for (int slice = 0; slice < slices; slice++) {
#pragma unroll
      for (int step = 0; step < STEPS; step++) {
        // The operands of the next step are under way while this one's are multiplied.
        if (step + 1 < STEPS) {
          fetch(fragments[(step + 1) % 2], slice, step + 1);
        } else {
          copyWait<STAGES - 2>();
          __syncthreads();
          if (slice + 1 < slices) {
            fetch(fragments[(step + 1) % 2], slice + 1, 0);
          }
        }
        if (step == 0) {
          copy(slice + STAGES - 1, slices);  // over the slice before this one, which all have read
        }
#pragma unroll
        for (int i = 0; i < HIGH; i++) {
#pragma unroll
          for (int j = 0; j < BROAD; j++) {
            mmaBf16(sums[i][j], fragments[step % 2].a[i], fragments[step % 2].b[j]);
          }
        }
      }
      if (slice + 1 == end) {
        store(sums, accumulate);
        accumulate = true;
        end = min(end + longest, slices);
      }
    }
  }
};

// Tiles: rows, columns, those of a warp, depth, stages. Threads and shared memory of each:
//   few     16 x 32    64 threads   49,152 bytes    a few rows; as many blocks as there are columns to share
//   small   64 x 64   128 threads   49,152 bytes
//   large  128 x 128  128 threads   49,152 bytes    two blocks a multiprocessor
//   wide   128 x 256  256 threads   98,304 bytes    fewest bytes from the cache
// Launch of all: ceil(m / rows)·ceil(n / columns) blocks in one dimension.
template <Layout A, Layout B>
using Few = Product<A, B, 16, 32, 16, 16, 64, 8>;
template <Layout A, Layout B>
using Small = Product<A, B, 64, 64, 32, 32, 64, 3>;
template <Layout A, Layout B>
using Large = Product<A, B, 128, 128, 64, 64, 32, 3>;
template <Layout A, Layout B>
using Wide = Product<A, B, 128, 256, 64, 64, 32, 4>;

constexpr int ALL_SLICES = 0x7fffffff;
// Rows whose products make one sum of a weight's gradient.
constexpr int SUMMED_ROWS = 2048;

// linear: out[n, outputs] = x[n, strideX]·w[outputs, strideW]ᵀ over `inputs`; overwrites; out aliases nothing.

extern "C" __global__ __launch_bounds__(64) void
    linear_few(const bf16* x, const bf16* w, float* out, int n, int outputs, int inputs, int strideX, int strideW) {
  DYNAMIC_SHARED(bf16, shared);
  Few<DEEP, DEEP>({x, w, out, n, outputs, inputs, strideX, strideW, false}, shared).run(ALL_SLICES);
}

extern "C" __global__ __launch_bounds__(128) void
    linear_small(const bf16* x, const bf16* w, float* out, int n, int outputs, int inputs, int strideX, int strideW) {
  DYNAMIC_SHARED(bf16, shared);
  Small<DEEP, DEEP>({x, w, out, n, outputs, inputs, strideX, strideW, false}, shared).run(ALL_SLICES);
}

extern "C" __global__ __launch_bounds__(128) void
    linear_large(const bf16* x, const bf16* w, float* out, int n, int outputs, int inputs, int strideX, int strideW) {
  DYNAMIC_SHARED(bf16, shared);
  Large<DEEP, DEEP>({x, w, out, n, outputs, inputs, strideX, strideW, false}, shared).run(ALL_SLICES);
}

extern "C" __global__ __launch_bounds__(256) void
    linear_wide(const bf16* x, const bf16* w, float* out, int n, int outputs, int inputs, int strideX, int strideW) {
  DYNAMIC_SHARED(bf16, shared);
  Wide<DEEP, DEEP>({x, w, out, n, outputs, inputs, strideX, strideW, false}, shared).run(ALL_SLICES);
}

// linear_backward_input: dX[n, inputs] = or += dOut[n, strideD]·w[outputs, strideW] over `outputs`; dX aliases
// nothing.

extern "C" __global__ __launch_bounds__(64) void
    linear_backward_input_few(const bf16* dOut, const bf16* w, float* dX, int n, int inputs, int outputs, int strideD, int strideW,
                              int accumulate) {
  DYNAMIC_SHARED(bf16, shared);
  Few<DEEP, FLAT>({dOut, w, dX, n, inputs, outputs, strideD, strideW, accumulate != 0}, shared).run(ALL_SLICES);
}

extern "C" __global__ __launch_bounds__(128) void
    linear_backward_input_small(const bf16* dOut, const bf16* w, float* dX, int n, int inputs, int outputs, int strideD, int strideW,
                              int accumulate) {
  DYNAMIC_SHARED(bf16, shared);
  Small<DEEP, FLAT>({dOut, w, dX, n, inputs, outputs, strideD, strideW, accumulate != 0}, shared).run(ALL_SLICES);
}

extern "C" __global__ __launch_bounds__(128) void
    linear_backward_input_large(const bf16* dOut, const bf16* w, float* dX, int n, int inputs, int outputs, int strideD, int strideW,
                              int accumulate) {
  DYNAMIC_SHARED(bf16, shared);
  Large<DEEP, FLAT>({dOut, w, dX, n, inputs, outputs, strideD, strideW, accumulate != 0}, shared).run(ALL_SLICES);
}

extern "C" __global__ __launch_bounds__(256) void
    linear_backward_input_wide(const bf16* dOut, const bf16* w, float* dX, int n, int inputs, int outputs, int strideD, int strideW,
                              int accumulate) {
  DYNAMIC_SHARED(bf16, shared);
  Wide<DEEP, FLAT>({dOut, w, dX, n, inputs, outputs, strideD, strideW, accumulate != 0}, shared).run(ALL_SLICES);
}

// linear_backward_weight: dW[outputs, inputs] += dOut[n, strideD]ᵀ·x[n, strideX]; SUMMED_ROWS rows after
// SUMMED_ROWS rows, in ascending order; dW aliases nothing.

extern "C" __global__ __launch_bounds__(128) void
    linear_backward_weight_small(const bf16* dOut, const bf16* x, float* dW, int outputs, int inputs, int n, int strideD, int strideX) {
  DYNAMIC_SHARED(bf16, shared);
  Small<FLAT, FLAT>({dOut, x, dW, outputs, inputs, n, strideD, strideX, true}, shared).run(SUMMED_ROWS / 64);
}

extern "C" __global__ __launch_bounds__(128) void
    linear_backward_weight_large(const bf16* dOut, const bf16* x, float* dW, int outputs, int inputs, int n, int strideD, int strideX) {
  DYNAMIC_SHARED(bf16, shared);
  Large<FLAT, FLAT>({dOut, x, dW, outputs, inputs, n, strideD, strideX, true}, shared).run(SUMMED_ROWS / 32);
}

extern "C" __global__ __launch_bounds__(256) void
    linear_backward_weight_wide(const bf16* dOut, const bf16* x, float* dW, int outputs, int inputs, int n, int strideD, int strideX) {
  DYNAMIC_SHARED(bf16, shared);
  Wide<FLAT, FLAT>({dOut, x, dW, outputs, inputs, n, strideD, strideX, true}, shared).run(SUMMED_ROWS / 32);
}
