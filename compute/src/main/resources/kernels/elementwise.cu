// Element by element. Launch: one-dimensional grid, four values a thread.
#include "quads.cuh"

// Where a thread's four values begin, and how many of them are there.
struct Place {
  long long at;
  int count;
};

__device__ __forceinline__ Place placeOf(long long n) {
  long long at = 4 * globalThread();
  return {at, static_cast<int>(min(4LL, n - at))};
}

template <bool WIDE>
__device__ __forceinline__ void addQuads(const float* x, const float* y, float* out, Place i) {
  float4 a = loadQuad<WIDE>(x + i.at, i.count), b = loadQuad<WIDE>(y + i.at, i.count);
  storeQuad<WIDE>(out + i.at, a + b, i.count);
}

// out[n] = x[n] + y[n]; overwrites; out may be x or y.
extern "C" __global__ void add(const float* x, const float* y, float* out, long long n) {
  Place i = placeOf(n);
  if (i.count == 4 && isWide(x, 0) && isWide(y, 0) && isWide(out, 0)) {
    addQuads<true>(x, y, out, i);
  } else if (i.count > 0) {
    addQuads<false>(x, y, out, i);
  }
}

__device__ __forceinline__ float sigmoid(float x) {
  return 1.f / (1.f + expOf(-x));
}

__device__ __forceinline__ float gated(float gate, float up) {
  return gate * sigmoid(gate) * up;
}

template <bool WIDE>
__device__ __forceinline__ void gateQuads(const float* gate, const float* up, float* out, Place i) {
  float4 g = loadQuad<WIDE>(gate + i.at, i.count), u = loadQuad<WIDE>(up + i.at, i.count);
  float4 result = make_float4(gated(g.x, u.x), gated(g.y, u.y), gated(g.z, u.z), gated(g.w, u.w));
  storeQuad<WIDE>(out + i.at, result, i.count);
}

// out[n] = gate[n]·sigmoid(gate[n])·up[n]; overwrites; out may be gate or up.
extern "C" __global__ void swiglu(const float* gate, const float* up, float* out, long long n) {
  Place i = placeOf(n);
  if (i.count == 4 && isWide(gate, 0) && isWide(up, 0) && isWide(out, 0)) {
    gateQuads<true>(gate, up, out, i);
  } else if (i.count > 0) {
    gateQuads<false>(gate, up, out, i);
  }
}

// With s = sigmoid(gate): dGate = dOut·up·s·(1 + gate·(1 − s)), dUp = dOut·gate·s.
__device__ __forceinline__ void ungate(float gate, float up, float dOut, float& dGate, float& dUp) {
  float s = sigmoid(gate);
  dGate = dOut * up * s * fmaf(gate, 1.f - s, 1.f);
  dUp = dOut * gate * s;
}

template <bool WIDE>
__device__ __forceinline__ void ungateQuads(const float* gate, const float* up, const float* dOut, float* dGate,
                                            float* dUp, Place i) {
  float4 g = loadQuad<WIDE>(gate + i.at, i.count), u = loadQuad<WIDE>(up + i.at, i.count);
  float4 d = loadQuad<WIDE>(dOut + i.at, i.count);
  float4 toGate, toUp;
  ungate(g.x, u.x, d.x, toGate.x, toUp.x);
  ungate(g.y, u.y, d.y, toGate.y, toUp.y);
  ungate(g.z, u.z, d.z, toGate.z, toUp.z);
  ungate(g.w, u.w, d.w, toGate.w, toUp.w);
  storeQuad<WIDE>(dGate + i.at, toGate, i.count);
  storeQuad<WIDE>(dUp + i.at, toUp, i.count);
}

// The gradients of swiglu, all [n]: dGate and dUp are overwritten; dUp may be dOut.
extern "C" __global__ void swiglu_backward(const float* gate, const float* up, const float* dOut, float* dGate,
                                           float* dUp, long long n) {
  Place i = placeOf(n);
  if (i.count == 4 && isWide(gate, 0) && isWide(up, 0) && isWide(dOut, 0) && isWide(dGate, 0) && isWide(dUp, 0)) {
    ungateQuads<true>(gate, up, dOut, dGate, dUp, i);
  } else if (i.count > 0) {
    ungateQuads<false>(gate, up, dOut, dGate, dUp, i);
  }
}
