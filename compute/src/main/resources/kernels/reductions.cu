// What is asked of whole rows and matrices.
#include "quads.cuh"

struct Best {
  float value;
  int place;
};

// The thread's first largest of a row; row[0] where nothing is larger.
template <bool WIDE>
__device__ __forceinline__ Best bestOf(const float* row, int columns) {
  int step = 4 * static_cast<int>(blockDim.x);
  float first = row[0];
  Best best = {first, 0};
  for (int c = 4 * static_cast<int>(threadIdx.x); c < columns; c += BATCH * step) {
    float4 quads[BATCH];
    loadBatch<WIDE>(quads, row, c, step, columns, first);
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      const float* found = &quads[k].x;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        if (found[i] > best.value) {
          best = {found[i], c + k * step + i};
        }
      }
    }
  }
  return best;
}

// best[i] = the index of the largest value of row i, the lowest on ties; NaN is never larger; x [n, columns],
// best [n] is overwritten. Launch: n blocks of 512 threads.
extern "C" __global__ void argmax_rows(const float* x, int columns, int* best) {
  constexpr int WARPS = 16;
  __shared__ float values[WARPS];
  __shared__ int places[WARPS];
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  Best own = isWide(x, columns) ? bestOf<true>(row, columns) : bestOf<false>(row, columns);
  float value = own.value;
  int place = own.place;
  // Strictly larger, or as large and earlier: the same whoever is asked first.
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    float other = __shfl_xor_sync(ALL_LANES, value, distance);
    int otherPlace = __shfl_xor_sync(ALL_LANES, place, distance);
    if (other > value || (other == value && otherPlace < place)) {
      value = other;
      place = otherPlace;
    }
  }
  if (threadIdx.x % WARP == 0) {
    values[threadIdx.x / WARP] = value;
    places[threadIdx.x / WARP] = place;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < WARPS; w++) {
      if (values[w] > value || (values[w] == value && places[w] < place)) {
        value = values[w];
        place = places[w];
      }
    }
    best[blockIdx.x] = place;
  }
}

// Zero times a value is zero only when the value is finite.
__device__ __forceinline__ bool isFinite(float4 quad) {
  return quad.x * 0.f + quad.y * 0.f + quad.z * 0.f + quad.w * 0.f == 0.f;
}

// found[0] becomes 1 when a value of x[n] is infinite or NaN, and is left alone otherwise. Launch:
// one-dimensional grid, four values a thread.
extern "C" __global__ void find_not_finite(const float* x, long long n, int* found) {
  long long i = 4 * globalThread();
  bool finite = true;
  if (i + 4 <= n && isWide(x, 0)) {
    finite = isFinite(loadQuad<true>(x + i, 4));
  } else if (i < n) {
    finite = isFinite(loadQuad<false>(x + i, static_cast<int>(min(4LL, n - i))));
  }
  if (__any_sync(ALL_LANES, !finite) && threadIdx.x % WARP == 0) {
    atomicOr(found, 1);
  }
}
