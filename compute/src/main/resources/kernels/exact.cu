// Exact sums: 64-bit integers in units of 2^-30, whose total does not depend on their order.
#include "device.cuh"

// sums[offset + i] += values[i] in units, rounded to nearest, halves to even; values [n]. A value that is
// not below 2^23 in magnitude, or NaN, is left out and makes spoilt[0] 1. Launch: ceil(n / 1024)
// blocks of 256 threads.
extern "C" __global__ void add_exactly(const float* values, long long* sums, long long offset, long long n,
                                       int* spoilt) {
  constexpr int EACH = 4;
  constexpr int THREADS = 256;
  long long first = static_cast<long long>(blockIdx.x) * THREADS * EACH + threadIdx.x;
  float value[EACH];
  long long sum[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    long long i = first + k * THREADS;
    value[k] = i < n ? values[i] : 0.f;
    sum[k] = i < n ? sums[offset + i] : 0;
  }
  bool spoils = false;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    long long i = first + k * THREADS;
    bool fits = fabsf(value[k]) < 0x1p23f;
    spoils |= !fits;
    if (i < n && fits) {
      sums[offset + i] = sum[k] + llrintf(value[k] * 0x1p30f);
    }
  }
  if (__any_sync(ALL_LANES, spoils) && threadIdx.x % WARP == 0) {
    atomicOr(spoilt, 1);
  }
}

// sums[offset + i] += others[i], what another drafter has summed up; others [n]. Launch: ceil(n / 1024) blocks of
// 256 threads.
extern "C" __global__ void add_sums(const long long* others, long long* sums, long long offset, long long n) {
  constexpr int EACH = 4;
  constexpr int THREADS = 256;
  long long first = static_cast<long long>(blockIdx.x) * THREADS * EACH + threadIdx.x;
  long long sum[EACH];
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    long long i = first + k * THREADS;
    sum[k] = i < n ? sums[offset + i] + others[i] : 0;
  }
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    long long i = first + k * THREADS;
    if (i < n) {
      sums[offset + i] = sum[k];
    }
  }
}
