// Element by element. Launch: one-dimensional grid, four values a thread.
#include "quads.cuh"

// out[n] = x[n] + y[n]; overwrites; out may be x or y.
extern "C" __global__ void add(const float* x, const float* y, float* out, long long n) {
  long long i = 4 * globalThread();
  if (i < n) {
    float4 a = loadQuad(x + i, n - i, isWide(x, 0));
    float4 b = loadQuad(y + i, n - i, isWide(y, 0));
    storeQuad(out + i, a + b, n - i, isWide(out, 0));
  }
}

__device__ __forceinline__ float sigmoid(float x) {
  return 1.f / (1.f + expOf(-x));
}

__device__ __forceinline__ float gated(float gate, float up) {
  return gate * sigmoid(gate) * up;
}

// out[n] = gate[n]·sigmoid(gate[n])·up[n]; overwrites; out may be gate or up.
extern "C" __global__ void swiglu(const float* gate, const float* up, float* out, long long n) {
  long long i = 4 * globalThread();
  if (i < n) {
    float4 g = loadQuad(gate + i, n - i, isWide(gate, 0));
    float4 u = loadQuad(up + i, n - i, isWide(up, 0));
    float4 result = make_float4(gated(g.x, u.x), gated(g.y, u.y), gated(g.z, u.z), gated(g.w, u.w));
    storeQuad(out + i, result, n - i, isWide(out, 0));
  }
}

// With s = sigmoid(gate): dGate = dOut·up·s·(1 + gate·(1 − s)), dUp = dOut·gate·s.
__device__ __forceinline__ void ungate(float gate, float up, float dOut, float& dGate, float& dUp) {
  float s = sigmoid(gate);
  dGate = dOut * up * s * fmaf(gate, 1.f - s, 1.f);
  dUp = dOut * gate * s;
}

// The gradients of swiglu, all [n]: dGate and dUp are overwritten; dUp may be dOut.
extern "C" __global__ void swiglu_backward(const float* gate, const float* up, const float* dOut, float* dGate,
                                           float* dUp, long long n) {
  long long i = 4 * globalThread();
  if (i < n) {
    float4 g = loadQuad(gate + i, n - i, isWide(gate, 0));
    float4 u = loadQuad(up + i, n - i, isWide(up, 0));
    float4 d = loadQuad(dOut + i, n - i, isWide(dOut, 0));
    float4 toGate, toUp;
    ungate(g.x, u.x, d.x, toGate.x, toUp.x);
    ungate(g.y, u.y, d.y, toGate.y, toUp.y);
    ungate(g.z, u.z, d.z, toGate.z, toUp.z);
    ungate(g.w, u.w, d.w, toGate.w, toUp.w);
    storeQuad(dGate + i, toGate, n - i, isWide(dGate, 0));
    storeQuad(dUp + i, toUp, n - i, isWide(dUp, 0));
  }
}
