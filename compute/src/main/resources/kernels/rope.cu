// Rotary embedding.
#include "quads.cuh"

struct Angle {
  float cos, sin;
};

// Cosine and sine of an angle below 2^31 in magnitude, within 2e-7. Only what is left of it beside whole
// quarter turns needs double precision; then come the series of both functions up to π/4.
__device__ __forceinline__ Angle angleOf(double angle) {
  double quarters = rint(angle * 0.63661977236758134308);
  double rest = fma(quarters, -6.12323399573676603587e-17, fma(quarters, -1.57079632679489655800, angle));
  float r = static_cast<float>(rest);
  float square = r * r;
  float s = fmaf(fmaf(fmaf(2.7557319e-6f, square, -1.9841270e-4f), square, 8.3333333e-3f), square, -0.16666667f);
  float sine = fmaf(s * square, r, r);
  float c = fmaf(fmaf(fmaf(-2.7557319e-7f, square, 2.4801587e-5f), square, -1.3888889e-3f), square, 0.041666667f);
  float cosine = fmaf(square, fmaf(square, c, -0.5f), 1.f);
  switch (static_cast<int>(quarters) & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

template <bool WIDE>
__device__ __forceinline__ void turnRow(float* row, const Angle* angles, int heads, int half) {
  int quads = (half + 3) / 4, units = heads * quads, threads = static_cast<int>(blockDim.x);
  for (int u = static_cast<int>(threadIdx.x); u < units; u += 2 * threads) {
    // Two pairs of quads at a time.
    float4 low[2], high[2];
#pragma unroll
    for (int t = 0; t < 2; t++) {
      int at = u + t * threads, j = at % quads * 4;
      float* first = row + at / quads * 2 * half + j;
      bool there = at < units;
      low[t] = there ? loadQuad<WIDE>(first, half - j) : make_float4(0.f, 0.f, 0.f, 0.f);
      high[t] = there ? loadQuad<WIDE>(first + half, half - j) : low[t];
    }
#pragma unroll
    for (int t = 0; t < 2; t++) {
      int at = u + t * threads, j = at % quads * 4;
      if (at < units) {
        float* first = row + at / quads * 2 * half + j;
        float* a = &low[t].x;
        float* b = &high[t].x;
#pragma unroll
        for (int i = 0; i < 4; i++) {
          if (WIDE || i < half - j) {
            Angle angle = angles[j + i];
            float before = a[i];
            a[i] = fmaf(before, angle.cos, -(b[i] * angle.sin));
            b[i] = fmaf(b[i], angle.cos, before * angle.sin);
          }
        }
        storeQuad<WIDE>(first, low[t], half - j);
        storeQuad<WIDE>(first + half, high[t], half - j);
      }
    }
  }
}

// x[j], x[j + half] of every head of row i are turned by the angle positions[i]·frequency[j], or back when
// direction is −1; cosine and sine are multiplied by scale. x [n, heads·2·half] in place, positions [n],
// frequency [half]. Launch: n blocks of 128 threads, dynamic shared memory 8·half bytes.
extern "C" __global__ void turn_rows(float* x, const int* positions, const double* frequency, float scale,
                                     float direction, int heads, int half) {
  DYNAMIC_SHARED(Angle, angles);
  double position = positions[blockIdx.x];
  for (int j = static_cast<int>(threadIdx.x); j < half; j += static_cast<int>(blockDim.x)) {
    Angle angle = angleOf(position * frequency[j]);
    angles[j] = {angle.cos * scale, angle.sin * scale * direction};
  }
  __syncthreads();
  float* row = x + static_cast<long long>(blockIdx.x) * heads * 2 * half;
  if (isWide(x, half)) {
    turnRow<true>(row, angles, heads, half);
  } else {
    turnRow<false>(row, angles, heads, half);
  }
}
