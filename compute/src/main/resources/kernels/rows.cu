// Whole rows. Launch, unless a kernel says otherwise: blocks of 256 threads, 2^shift of them on a row,
// ceil(rows / (256 >> shift)) blocks.
#include "quads.cuh"

__device__ __forceinline__ long long rowOf(int shift) {
  return static_cast<long long>(blockIdx.x) * (blockDim.x >> shift) + (threadIdx.x >> shift);
}

// The first of the thread's columns, and the distance to the next.
__device__ __forceinline__ int firstColumn(int shift) {
  return 4 * static_cast<int>(threadIdx.x & ((1u << shift) - 1));
}

template <bool WIDE>
__device__ __forceinline__ void copyRow(const float* from, float* to, int columns, int shift) {
  int step = 4 << shift;
  for (int c = firstColumn(shift); c < columns; c += BATCH * step) {
    float4 quads[BATCH];
    loadBatch<WIDE>(quads, from, c, step, columns);
    storeBatch<WIDE>(to, quads, c, step, columns);
  }
}

// out[i] = x[rows[first + i]] for i < n; x [any, columns], out [n, columns]; overwrites.
extern "C" __global__ void gather_rows(const float* x, const int* rows, int first, float* out, int n, int columns,
                                       int shift) {
  long long i = rowOf(shift);
  if (i < n) {
    const float* from = x + static_cast<long long>(rows[first + i]) * columns;
    if (isWide(x, columns) && isWide(out, columns)) {
      copyRow<true>(from, out + i * columns, columns, shift);
    } else {
      copyRow<false>(from, out + i * columns, columns, shift);
    }
  }
}

// out[i, column + c] = x[i, c]; x [n, columns], out [n, outColumns]; overwrites those columns.
extern "C" __global__ void copy_into_columns(const float* x, float* out, int outColumns, int column, int n,
                                             int columns, int shift) {
  long long i = rowOf(shift);
  if (i < n) {
    float* to = out + i * outColumns + column;
    if (isWide(x, columns) && isWide(out + column, outColumns)) {
      copyRow<true>(x + i * columns, to, columns, shift);
    } else {
      copyRow<false>(x + i * columns, to, columns, shift);
    }
  }
}

template <bool WIDE>
__device__ __forceinline__ void addToRow(float* row, const float* bias, int columns, int shift) {
  int step = 4 << shift;
  for (int c = firstColumn(shift); c < columns; c += BATCH * step) {
    float4 quads[BATCH], more[BATCH];
    loadBatch<WIDE>(quads, row, c, step, columns);
    loadBatch<WIDE>(more, bias, c, step, columns);
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      quads[k] = quads[k] + more[k];
    }
    storeBatch<WIDE>(row, quads, c, step, columns);
  }
}

// x[i, c] += bias[c]; x [n, columns].
extern "C" __global__ void add_bias(float* x, const float* bias, int n, int columns, int shift) {
  long long i = rowOf(shift);
  if (i < n) {
    if (isWide(x, columns) && isWide(bias, 0)) {
      addToRow<true>(x + i * columns, bias, columns, shift);
    } else {
      addToRow<false>(x + i * columns, bias, columns, shift);
    }
  }
}

// Sorts the row numbers rows[n], all below `targets`, without moving equal ones past each other:
// order[starts[d]] … order[starts[d + 1] − 1] are the places i with rows[i] = d, ascending.
// starts [targets + 1] and order [n] are overwritten. Launch: a warp for each target, 256 threads a block.
extern "C" __global__ void scatter_order(const int* rows, int n, int targets, int* starts, int* order) {
  int target = static_cast<int>(globalThread() / WARP);
  int lane = static_cast<int>(threadIdx.x) % WARP;
  if (target >= targets) {
    return;  // a whole warp, and nothing waits for the block
  }
  int below = 0, equal = 0;
  for (int i = 0; i < n; i += WARP) {
    int row = i + lane < n ? rows[i + lane] : targets;
    below += __popc(__ballot_sync(ALL_LANES, row < target));
    equal += __popc(__ballot_sync(ALL_LANES, row == target));
  }
  if (lane == 0) {
    starts[target] = below;
    if (target == targets - 1) {
      starts[targets] = below + equal;
    }
  }
  int next = below;
  for (int i = 0; i < n && next < below + equal; i += WARP) {
    bool mine = i + lane < n && rows[i + lane] == target;
    unsigned found = __ballot_sync(ALL_LANES, mine);
    if (mine) {
      order[next + __popc(found & ((1u << lane) - 1))] = i + lane;
    }
    next += __popc(found);
  }
}

// The sum of every sixteenth of the rows order[p …] before `end`, at the thread's quad of columns.
template <bool WIDE>
__device__ __forceinline__ float4 sumOfRows(const float* x, const int* order, int p, int end, int step, int columns,
                                            int c) {
  float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
  for (; p < end; p += BATCH * step) {
    float4 quads[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      int at = p + k * step;
      if (at < end) {
        quads[k] = loadQuad<WIDE>(x + static_cast<long long>(order[at]) * columns + c, columns - c);
      }
    }
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      if (p + k * step < end) {
        sum = sum + quads[k];
      }
    }
  }
  return sum;
}

// accumulated[d] += Σ x[order[p]] over p from starts[d] to starts[d + 1] − 1; x [any, columns], accumulated
// [targets, columns]. Each of 16 warps adds up every sixteenth addend, then those sums come in
// order. Launch: targets·ceil(columns / 128) blocks of 512 threads.
extern "C" __global__ void scatter_add_rows(const float* x, const int* starts, const int* order, float* accumulated,
                                            int columns) {
  constexpr int WARPS = 16;
  __shared__ float4 sums[WARPS][WARP];
  int slabs = (columns + 4 * WARP - 1) / (4 * WARP);
  int target = static_cast<int>(blockIdx.x) / slabs;
  int warp = static_cast<int>(threadIdx.x) / WARP, lane = static_cast<int>(threadIdx.x) % WARP;
  int c = (static_cast<int>(blockIdx.x) % slabs * WARP + lane) * 4;
  int start = starts[target], end = starts[target + 1];
  if (c < columns) {
    sums[warp][lane] = isWide(x, columns) ? sumOfRows<true>(x, order, start + warp, end, WARPS, columns, c)
                                          : sumOfRows<false>(x, order, start + warp, end, WARPS, columns, c);
  }
  __syncthreads();
  if (warp == 0 && c < columns && start < end) {
    float* to = accumulated + static_cast<long long>(target) * columns + c;
    float4 total = loadQuad<false>(to, columns - c);
    for (int w = 0; w < WARPS && w < end - start; w++) {
      total = total + sums[w][lane];
    }
    storeQuad<false>(to, total, columns - c);
  }
}
