// What every kernel file includes: the few things that differ between nvcc and the host compiler of
// the emulator, and the smallest helpers. Kernels are compiled without contraction: where a fused
// multiply-add is meant it is written fmaf.
#pragma once
#ifdef __CUDACC__
#include <cstdint>
// Shared memory whose size the launch decides; at most one a kernel.
#define DYNAMIC_SHARED(type, name)                           \
  extern __shared__ __align__(16) unsigned char dynamic_shared[]; \
  type* name = reinterpret_cast<type*>(dynamic_shared)
#else
#define DYNAMIC_SHARED(type, name) type* name = static_cast<type*>(emulator_dynamic_shared())
#endif

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// The number of this thread in a one-dimensional grid.
__device__ __forceinline__ long long globalThread() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// A bfloat16 as its bits; arithmetic is done in fp32.
struct __align__(2) bf16 {
  uint16_t bits;
};

__device__ __forceinline__ float toFloat(bf16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

// Rounds to nearest, halves to even; every NaN becomes a quiet one with its sign.
__device__ __forceinline__ bf16 toBf16(float value) {
  unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return {static_cast<uint16_t>(bits >> 16 | 0x40u)};
  }
  return {static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

// Two values as a tensor core reads them: the first in the low half.
__device__ __forceinline__ uint32_t packBf16(float low, float high) {
  return toBf16(low).bits | static_cast<uint32_t>(toBf16(high).bits) << 16;
}

// Sum over the 32 lanes, the same in each of them, by a fixed tree.
__device__ __forceinline__ float warpSum(float value) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(ALL_LANES, value, distance);
  }
  return value;
}

__device__ __forceinline__ float warpMax(float value) {
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
  }
  return value;
}
