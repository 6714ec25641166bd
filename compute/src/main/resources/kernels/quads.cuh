// Rows of floats, four values a load where they lie on borders of 16 bytes. Whether they do is asked once a
// kernel and changes the width of loads, never which thread gets which value: sums run in the same
// order either way. Loads come in batches before the first value is used, so that enough of
// them are under way.
#pragma once
#include "device.cuh"

// Quads of a batch.
constexpr int BATCH = 4;

// Whether rows of `columns` values, the first at p, are made of whole quads on borders of 16 bytes.
__device__ __forceinline__ bool isWide(const float* p, int columns) {
  return ((reinterpret_cast<uintptr_t>(p) | static_cast<uintptr_t>(columns) * 4) & 15) == 0;
}

// Values 0 … 3 at p, of which `count` are there, at least one (at least four when WIDE); others are `rest`.
template <bool WIDE>
__device__ __forceinline__ float4 loadQuad(const float* p, int count, float rest = 0.f) {
  if (WIDE) {
    return load4(p);
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

// Stores the first `count` values, at least one (at least four when WIDE).
template <bool WIDE>
__device__ __forceinline__ void storeQuad(float* p, float4 quad, int count) {
  if (WIDE) {
    store4(p, quad);
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

// The quads of a row at the columns c, c + step, …, as far as they begin before `columns`; the others,
// and values beyond the end, are `rest`.
template <bool WIDE>
__device__ __forceinline__ void loadBatch(float4 (&quads)[BATCH], const float* row, int c, int step, int columns,
                                          float rest = 0.f) {
#pragma unroll
  for (int k = 0; k < BATCH; k++) {
    int at = c + k * step;
    quads[k] = at < columns ? loadQuad<WIDE>(row + at, columns - at, rest) : make_float4(rest, rest, rest, rest);
  }
}

template <bool WIDE>
__device__ __forceinline__ void storeBatch(float* row, const float4 (&quads)[BATCH], int c, int step, int columns) {
#pragma unroll
  for (int k = 0; k < BATCH; k++) {
    int at = c + k * step;
    if (at < columns) {
      storeQuad<WIDE>(row + at, quads[k], columns - at);
    }
  }
}

__device__ __forceinline__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
