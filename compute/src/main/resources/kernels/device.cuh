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

// Four values at once, from an address that is a multiple of 16: the only way to wide accesses, since
// the emulator checks the address here.
__device__ __forceinline__ float4 load4(const float* address) {
#ifndef __CUDACC__
  emulator_require_aligned(address, 16);
#endif
  return *reinterpret_cast<const float4*>(address);
}

__device__ __forceinline__ void store4(float* address, float4 values) {
#ifndef __CUDACC__
  emulator_require_aligned(address, 16);
#endif
  *reinterpret_cast<float4*>(address) = values;
}

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

// e to the power x, within about one unit in the last place; 0 below -87, infinite above 88.72283, NaN
// for NaN and for infinite negative x. The polynomial is that of the cpu backend.
__device__ __forceinline__ float expOf(float x) {
  constexpr float ROUND = 12582912.f;  // 1.5·2^23: adding it leaves the nearest integer in the low bits
  float shifted = fmaf(x, 1.44269504f, ROUND);
  float n = shifted - ROUND;
  float r = fmaf(n, 2.12194440e-4f, fmaf(n, -0.693359375f, x));  // x − n·ln 2, ln 2 in two parts
  float p = fmaf(fmaf(fmaf(fmaf(0.001381432f, r, 0.008368852f), r, 0.0416684f), r, 0.1666652f), r, 0.49999994f);
  p = fmaf(fmaf(p, r, 1.f), r, 1.f);
  float power = __uint_as_float(__float_as_uint(p) + (__float_as_uint(shifted) << 23));
  if (x > 88.72283f) {
    return __uint_as_float(0x7f800000u);
  }
  return x >= -87.f ? power : x - x;
}

// The natural logarithm of a positive normal number, within about one unit in the last place;
// infinite and NaN as they are.
__device__ __forceinline__ float logOf(float x) {
  if (!(x <= 3.4028235e38f)) {
    return x;
  }
  // x = 2^n·m with m in [√½, √2): log m = 2·artanh((m − 1)/(m + 1)).
  unsigned bits = __float_as_uint(x) - 0x3f3504f3u;
  float n = static_cast<float>(static_cast<int>(bits) >> 23);
  float m = __uint_as_float((bits & 0x7fffffu) + 0x3f3504f3u);
  float s = (m - 1.f) / (m + 1.f);
  float square = s * s;
  float series = fmaf(fmaf(fmaf(0.11111111f, square, 0.14285715f), square, 0.2f), square, 0.33333334f);
  float twice = s + s;
  float log = fmaf(twice * square, series, n * -2.12194440e-4f) + twice;
  return fmaf(n, 0.693359375f, log);
}
