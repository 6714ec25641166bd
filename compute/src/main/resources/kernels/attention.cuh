// What the attention kernels share: tiles of keys and values in shared memory, scores of a warp's queries
// in registers, and the running softmax over tiles.
//
// A lane holds, of the results of m16n8k16 products, rows g = lane / 4 and g + 8 and columns 2·(lane % 4)
// and the next: below, `half` 0 is row g and half 1 row g + 8.
#pragma once
#include "shared_tiles.cuh"

// Stands for a score that is not seen: lower than any that is.
constexpr float UNSEEN = -1e30f;

// Key and value heads in bf16: value d of head h of row r at (r·heads + h)·D + d, D the padded size of a
// head, zeros in the padding.

// LINES heads' rows of D values in shared memory.
template <int LINES, int D, int THREADS>
using HeadSlice = Slice<LINES, D / 8, THREADS>;

// The four (two, two) values that a warp's lanes hold of 16 rows of fp32 at two rows' addresses, columns
// step·16 …, rounded: an `a` fragment. A null row is zero, and so is what lies beyond headDim.
__device__ __forceinline__ void fetchRows(uint32_t (&a)[4], const float* const (&rows)[2], int headDim, int step,
                                          bool pairs) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float* row = rows[i % 2];
    int column = step * 16 + i / 2 * 8 + threadIdx.x % 4 * 2;
    float2 value = make_float2(0, 0);
    if (row != nullptr && column < headDim) {
      if (pairs) {
        value = *reinterpret_cast<const float2*>(row + column);
      } else {
        value.x = row[column];
        value.y = column + 1 < headDim ? row[column + 1] : 0.0f;
      }
    }
    a[i] = packBf16(value.x, value.y);
  }
}

// Whether rows of heads may be read and written two values at once.
__device__ __forceinline__ bool inPairs(const void* matrix, int headDim) {
  return headDim % 2 == 0 && reinterpret_cast<uintptr_t>(matrix) % sizeof(float2) == 0;
}

// products[16, KEYS] = a[16, D]·lines[KEYS, D]ᵀ.
template <int KEYS, int D, class Lines>
__device__ __forceinline__ void multiplyByLines(float (&products)[KEYS / 8][4], const uint32_t (&a)[D / 16][4],
                                                const bf16* lines) {
  int lane = threadIdx.x % WARP;
  int line = lane / 16 * 8 + lane % 8, chunk = lane / 8 % 2;
#pragma unroll
  for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      products[j][i] = 0;
    }
  }
#pragma unroll
  for (int step = 0; step < D / 16; step++) {
#pragma unroll
    for (int j = 0; j < KEYS / 8; j += 2) {
      uint32_t b[4];
      loadMatrix4(b, lines + Lines::place(j * 8 + line, step * 2 + chunk));
      mmaBf16(products[j], a[step], {b[0], b[1]});
      mmaBf16(products[j + 1], a[step], {b[2], b[3]});
    }
  }
}

// sums[16, D] += weights[16, KEYS]·lines[KEYS, D], the weights (results of a product) rounded.
template <int KEYS, int D, class Lines>
__device__ __forceinline__ void addWeighted(float (&sums)[D / 8][4], const float (&weights)[KEYS / 8][4],
                                            const bf16* lines) {
  int lane = threadIdx.x % WARP;
  int line = lane / 8 % 2 * 8 + lane % 8, chunk = lane / 16;
#pragma unroll
  for (int step = 0; step < KEYS / 16; step++) {
    const float(&low)[4] = weights[step * 2];
    const float(&high)[4] = weights[step * 2 + 1];
    uint32_t a[4] = {packBf16(low[0], low[1]), packBf16(low[2], low[3]), packBf16(high[0], high[1]),
                     packBf16(high[2], high[3])};
#pragma unroll
    for (int j = 0; j < D / 8; j += 2) {
      uint32_t b[4];
      loadMatrix4Transposed(b, lines + Lines::place(step * 16 + line, j + chunk));
      mmaBf16(sums[j], a, {b[0], b[1]});
      mmaBf16(sums[j + 1], a, {b[2], b[3]});
    }
  }
}

// Row `half` of a warp's results into `to` (or null): headDim values, overwritten or added to.
template <int D>
__device__ __forceinline__ void storeRow(float* to, const float (&sums)[D / 8][4], int half, int headDim, bool pairs,
                                         bool add) {
  if (to == nullptr) {
    return;
  }
#pragma unroll
  for (int j = 0; j < D / 8; j++) {
    int column = j * 8 + threadIdx.x % 4 * 2;
    if (column >= headDim) {
      continue;
    }
    float first = sums[j][half * 2];
    float second = sums[j][half * 2 + 1];
    if (pairs) {
      float2* at = reinterpret_cast<float2*>(to + column);
      float2 before = add ? *at : make_float2(0, 0);
      *at = add ? make_float2(before.x + first, before.y + second) : make_float2(first, second);
      continue;
    }
    to[column] = add ? to[column] + first : first;
    if (column + 1 < headDim) {
      to[column + 1] = add ? to[column + 1] + second : second;
    }
  }
}

// Over the four lanes that share a row, the same in each.
__device__ __forceinline__ float rowMax(float value) {
  value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, 1));
  return fmaxf(value, __shfl_xor_sync(ALL_LANES, value, 2));
}

__device__ __forceinline__ float rowSum(float value) {
  value += __shfl_xor_sync(ALL_LANES, value, 1);
  return value + __shfl_xor_sync(ALL_LANES, value, 2);
}

// Which keys a lane's two rows see: first ≤ key < end.
struct Seen {
  int first[2];
  int end[2];

  __device__ __forceinline__ bool sees(int half, int key) const { return key >= first[half] && key < end[half]; }
  // Of a tile of keys: whether both rows see all of it, or nothing.
  __device__ __forceinline__ bool all(int key, int keys) const {
    return first[0] <= key && first[1] <= key && end[0] >= key + keys && end[1] >= key + keys;
  }
  __device__ __forceinline__ bool none(int key, int keys) const {
    return (first[0] >= key + keys || end[0] <= key) && (first[1] >= key + keys || end[1] <= key);
  }
};

// A warp's 16 queries: softmax-weighted values, one tile of keys after the other. A tile of which a
// query sees nothing changes nothing, so a query's result does not depend on those beside it.
template <int D, int THREADS>
struct Queries {
  static constexpr int KEYS = 64;
  using Lines = HeadSlice<KEYS, D, THREADS>;
  static constexpr int SHARED = 2 * Lines::VALUES * sizeof(bf16);  // bytes: a tile of keys, one of values

  uint32_t query[D / 16][4];
  float sums[D / 8][4];
  float largest[2];  // of the scores so far
  float total[2];    // this lane's part of the sum of exponentials

  // rows: of the lane's two queries, headDim values of fp32, or null.
  __device__ __forceinline__ void begin(const float* const (&rows)[2], int headDim, bool pairs) {
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
      fetchRows(query[step], rows, headDim, step, pairs);
    }
#pragma unroll
    for (int j = 0; j < D / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        sums[j][i] = 0;
      }
    }
    largest[0] = largest[1] = UNSEEN;
    total[0] = total[1] = 0;
  }

  // Scores of the tile of keys that begins at `key`, and their softmax so far: weights to multiply values
  // with.
  __device__ __forceinline__ void score(float (&weights)[KEYS / 8][4], const bf16* keys, int key, const Seen& seen,
                                        float scale) {
    multiplyByLines<KEYS, D, Lines>(weights, query, keys);
    bool whole = __all_sync(ALL_LANES, seen.all(key, KEYS));
    int column = key + threadIdx.x % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float most = UNSEEN;
#pragma unroll
      for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
        for (int i = half * 2; i < half * 2 + 2; i++) {
          float value = weights[j][i] * scale;
          weights[j][i] = whole || seen.sees(half, column + j * 8 + i % 2) ? value : UNSEEN;
          most = fmaxf(most, weights[j][i]);
        }
      }
      float now = fmaxf(largest[half], rowMax(most));
      float base = now == UNSEEN ? 0.0f : now;
      float shrink = expOf(largest[half] - base);
      largest[half] = now;
      float sum = 0;
#pragma unroll
      for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
        for (int i = half * 2; i < half * 2 + 2; i++) {
          weights[j][i] = expOf(weights[j][i] - base);
          sum += weights[j][i];
        }
      }
      total[half] = fmaf(total[half], shrink, sum);
#pragma unroll
      for (int j = 0; j < D / 8; j++) {
        sums[j][half * 2] *= shrink;
        sums[j][half * 2 + 1] *= shrink;
      }
    }
  }

  // Takes the keys begin … end − 1 of one head: rows `lineStride` values apart, the first at `keys` and
  // `values`. begin is a multiple of KEYS. All threads of the block take part.
  __device__ __forceinline__ void attend(bf16* shared, const bf16* keys, const bf16* values, int lineStride,
                                         int begin, int end, const Seen& seen, float scale) {
    bf16* keyTile = shared;
    bf16* valueTile = shared + Lines::VALUES;
    if (begin < end) {
      __syncthreads();  // what was in the tiles before has been used
      Lines::copy(keyTile, keys, lineStride, begin, end, 0, D);
      copyCommit();
    }
#pragma unroll 1
    for (int key = begin; key < end; key += KEYS) {
      copyWait<0>();
      __syncthreads();  // the keys are there, and the values before have been used
      Lines::copy(valueTile, values, lineStride, key, end, 0, D);
      copyCommit();
      float weights[KEYS / 8][4];
      bool idle = __all_sync(ALL_LANES, seen.none(key, KEYS));
      if (!idle) {
        score(weights, keyTile, key, seen, scale);
      }
      copyWait<0>();
      __syncthreads();  // the values are there, and the keys have been used
      if (key + KEYS < end) {
        Lines::copy(keyTile, keys, lineStride, key + KEYS, end, 0, D);
      }
      copyCommit();
      if (!idle) {
        addWeighted<KEYS, D, Lines>(sums, weights, valueTile);
      }
    }
  }

  // Results into the lane's two rows (or null); returns the natural log of the sums of exponentials.
  __device__ __forceinline__ float2 finish(float* const (&rows)[2], int headDim, bool pairs) {
    float logs[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
      float sum = rowSum(total[half]);
      logs[half] = largest[half] + logOf(sum);
      float factor = 1.0f / sum;
#pragma unroll
      for (int j = 0; j < D / 8; j++) {
        sums[j][half * 2] *= factor;
        sums[j][half * 2 + 1] *= factor;
      }
      storeRow<D>(rows[half], sums, half, headDim, pairs, false);
    }
    return make_float2(logs[0], logs[1]);
  }
};
