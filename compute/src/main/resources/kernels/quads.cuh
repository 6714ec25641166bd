// Rows of floats, four values a load where they lie on borders of 16 bytes. Whether they do changes
// the width of loads, never which thread gets which value: sums run in the same order either way.
#pragma once
#include "device.cuh"

// Whether rows of `columns` values, the first at p, all begin on borders of 16 bytes.
__device__ __forceinline__ bool isWide(const float* p, int columns) {
  return ((reinterpret_cast<uintptr_t>(p) | static_cast<uintptr_t>(columns) * 4) & 15) == 0;
}

// Values 0 … 3 at p, of which `count` are there, at least one; the others are `rest`.
__device__ __forceinline__ float4 loadQuad(const float* p, long long count, bool wide, float rest = 0.f) {
  if (wide && count >= 4) {
    return *reinterpret_cast<const float4*>(p);
  }
  float4 quad = make_float4(p[0], rest, rest, rest);
  if (count > 1) {
    quad.y = p[1];
  }
  if (count > 2) {
    quad.z = p[2];
  }
  if (count > 3) {
    quad.w = p[3];
  }
  return quad;
}

// Stores the first `count` values, at least one.
__device__ __forceinline__ void storeQuad(float* p, float4 quad, long long count, bool wide) {
  if (wide && count >= 4) {
    *reinterpret_cast<float4*>(p) = quad;
    return;
  }
  p[0] = quad.x;
  if (count > 1) {
    p[1] = quad.y;
  }
  if (count > 2) {
    p[2] = quad.z;
  }
  if (count > 3) {
    p[3] = quad.w;
  }
}

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
