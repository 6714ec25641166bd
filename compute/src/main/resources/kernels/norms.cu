// RMSNorm over groups of columns: a whole row, or one head of it. A group is worked on by a team, its
// values four by four in turn: a warp for at most 512 columns, else a block of 256 threads; what a
// thread reads first of its group stays in registers. Blocks have 256 threads. Sums run in an
// order that the width of the group alone decides.
#include "quads.cuh"

constexpr int THREADS = 256;
constexpr int KEPT = 4;           // quads a thread keeps: 512 columns of a warp, 4,096 of a block
constexpr int GROUPS_A_TEAM = 32;  // whose share of the weight's gradient is summed before it is written

struct Two {
  float a, b;
};

// Sums over the threads of a team, the same in each. All threads of the block take part.
template <int TEAM>
__device__ __forceinline__ Two teamSum(Two value) {
  Two sum = {warpSum(value.a), warpSum(value.b)};
  if (TEAM > WARP) {
    __shared__ Two warps[THREADS / WARP];
    __syncthreads();  // the last sums have been read
    if (threadIdx.x % WARP == 0) {
      warps[threadIdx.x / WARP] = sum;
    }
    __syncthreads();
    sum = warps[0];
    for (int w = 1; w < THREADS / WARP; w++) {
      sum.a += warps[w].a;
      sum.b += warps[w].b;
    }
  }
  return sum;
}

__device__ __forceinline__ float addSquares(float sum, float4 x) {
  return fmaf(x.w, x.w, fmaf(x.z, x.z, fmaf(x.y, x.y, fmaf(x.x, x.x, sum))));
}

__device__ __forceinline__ float inverseRoot(float squares, int group, float eps) {
  return 1.f / sqrtf(squares / static_cast<float>(group) + eps);
}

__device__ __forceinline__ float4 scaled(float4 x, float factor, float4 w) {
  return make_float4(x.x * factor * w.x, x.y * factor * w.y, x.z * factor * w.z, x.w * factor * w.w);
}

template <int TEAM>
__device__ __forceinline__ void normalize(const float* x, const float* weight, float eps, float* out,
                                          long long groups, int group) {
  long long g = (static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x) / TEAM;
  int first = 4 * static_cast<int>(threadIdx.x % TEAM);
  int end = g < groups ? group : 0;
  bool wideX = isWide(x, group), wideOut = isWide(out, group), wideWeight = isWide(weight, 0);
  const float* from = x + g * group;
  float* to = out + g * group;
  float4 kept[KEPT];
  float squares = 0.f;
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    int c = first + 4 * TEAM * k;
    if (c < end) {
      kept[k] = loadQuad(from + c, end - c, wideX);
      squares = addSquares(squares, kept[k]);
    }
  }
  for (int c = first + 4 * TEAM * KEPT; c < end; c += 4 * TEAM) {
    squares = addSquares(squares, loadQuad(from + c, end - c, wideX));
  }
  float factor = inverseRoot(teamSum<TEAM>({squares, 0.f}).a, group, eps);
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    int c = first + 4 * TEAM * k;
    if (c < end) {
      storeQuad(to + c, scaled(kept[k], factor, loadQuad(weight + c, end - c, wideWeight)), end - c, wideOut);
    }
  }
  for (int c = first + 4 * TEAM * KEPT; c < end; c += 4 * TEAM) {
    float4 value = loadQuad(from + c, end - c, wideX);
    storeQuad(to + c, scaled(value, factor, loadQuad(weight + c, end - c, wideWeight)), end - c, wideOut);
  }
}

// out = x·weight / sqrt(mean(x²) + eps) over each group; x, out [groups, group], weight [group];
// overwrites; out may be x. For groups of at most 512 columns. Launch: ceil(groups / 8) blocks.
extern "C" __global__ void rms_norm_narrow(const float* x, const float* weight, float eps, float* out,
                                           long long groups, int group) {
  normalize<WARP>(x, weight, eps, out, groups, group);
}

// The same for wider groups. Launch: a block for each group.
extern "C" __global__ void rms_norm_wide(const float* x, const float* weight, float eps, float* out, long long groups,
                                         int group) {
  normalize<THREADS>(x, weight, eps, out, groups, group);
}

// What one thread adds up over its quad of columns.
struct Gradient {
  float4 x, g;  // the value, and dOut
};

__device__ __forceinline__ Two addTerms(Two sum, Gradient q, float4 w) {
  return {addSquares(sum.a, q.x),
          fmaf(q.g.w * w.w, q.x.w,
               fmaf(q.g.z * w.z, q.x.z, fmaf(q.g.y * w.y, q.x.y, fmaf(q.g.x * w.x, q.x.x, sum.b))))};
}

// factor·(dOut·w − x·back)
__device__ __forceinline__ float4 inputGradient(Gradient q, float4 w, float factor, float back) {
  return make_float4(factor * fmaf(-q.x.x, back, q.g.x * w.x), factor * fmaf(-q.x.y, back, q.g.y * w.y),
                     factor * fmaf(-q.x.z, back, q.g.z * w.z), factor * fmaf(-q.x.w, back, q.g.w * w.w));
}

// sum + dOut·(x·factor)
__device__ __forceinline__ float4 addWeightGradient(float4 sum, Gradient q, float factor) {
  return make_float4(fmaf(q.g.x, q.x.x * factor, sum.x), fmaf(q.g.y, q.x.y * factor, sum.y),
                     fmaf(q.g.z, q.x.z * factor, sum.z), fmaf(q.g.w, q.x.w * factor, sum.w));
}

// Each team goes through GROUPS_A_TEAM groups, those of a block side by side. With
// s = 1/sqrt(mean(x²) + eps) and g = dOut·weight: dX = s·(g − x·s²·mean(g·x)). Leaves the team's
// Σ dOut·x·s in `sums`, and of the quads of columns beyond those kept in `more`.
template <int TEAM>
__device__ __forceinline__ void differentiate(const float* x, const float* weight, float eps, const float* dOut,
                                              float* dX, long long groups, int group, float4 (&sums)[KEPT],
                                              float4* more) {
  constexpr int TEAMS = THREADS / TEAM;
  int first = 4 * static_cast<int>(threadIdx.x % TEAM);
  bool wideX = isWide(x, group), wideG = isWide(dOut, group), wideD = isWide(dX, group), wideW = isWide(weight, 0);
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    sums[k] = make_float4(0.f, 0.f, 0.f, 0.f);
  }
  for (int c = first + 4 * TEAM * KEPT; c < group; c += 4 * TEAM) {
    more[c / 4 - KEPT * TEAM] = make_float4(0.f, 0.f, 0.f, 0.f);
  }
  long long g = static_cast<long long>(blockIdx.x) * TEAMS * GROUPS_A_TEAM + threadIdx.x / TEAM;
  for (int turn = 0; turn < GROUPS_A_TEAM; turn++, g += TEAMS) {
    int end = g < groups ? group : 0;
    const float* from = x + g * group;
    const float* gradient = dOut + g * group;
    float* to = dX + g * group;
    Gradient kept[KEPT];
    Two terms = {0.f, 0.f};
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
      int c = first + 4 * TEAM * k;
      if (c < end) {
        kept[k] = {loadQuad(from + c, end - c, wideX), loadQuad(gradient + c, end - c, wideG)};
      }
    }
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
      int c = first + 4 * TEAM * k;
      if (c < end) {
        terms = addTerms(terms, kept[k], loadQuad(weight + c, end - c, wideW));
      }
    }
    for (int c = first + 4 * TEAM * KEPT; c < end; c += 4 * TEAM) {
      Gradient q = {loadQuad(from + c, end - c, wideX), loadQuad(gradient + c, end - c, wideG)};
      terms = addTerms(terms, q, loadQuad(weight + c, end - c, wideW));
    }
    terms = teamSum<TEAM>(terms);
    float factor = inverseRoot(terms.a, group, eps);
    float back = terms.b / static_cast<float>(group) * factor * factor;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
      int c = first + 4 * TEAM * k;
      if (c < end) {
        float4 w = loadQuad(weight + c, end - c, wideW);
        storeQuad(to + c, inputGradient(kept[k], w, factor, back), end - c, wideD);
        sums[k] = addWeightGradient(sums[k], kept[k], factor);
      }
    }
    for (int c = first + 4 * TEAM * KEPT; c < end; c += 4 * TEAM) {
      Gradient q = {loadQuad(from + c, end - c, wideX), loadQuad(gradient + c, end - c, wideG)};
      float4 w = loadQuad(weight + c, end - c, wideW);
      storeQuad(to + c, inputGradient(q, w, factor, back), end - c, wideD);
      more[c / 4 - KEPT * TEAM] = addWeightGradient(more[c / 4 - KEPT * TEAM], q, factor);
    }
  }
}

// Gradients of rms_norm over groups of at most 512 columns; x, dOut, dX [groups, group], weight [group].
// dX is overwritten and may be dOut; partial [blocks, group] is overwritten with the weight's gradient
// over the 256 groups of each block. Launch: ceil(groups / 256) blocks.
extern "C" __global__ void rms_norm_backward_narrow(const float* x, const float* weight, float eps,
                                                    const float* dOut, float* dX, float* partial,
                                                    long long groups, int group) {
  constexpr int TEAMS = THREADS / WARP;
  __shared__ float4 teams[TEAMS][KEPT * WARP];
  float4 sums[KEPT];
  differentiate<WARP>(x, weight, eps, dOut, dX, groups, group, sums, nullptr);
  int lane = static_cast<int>(threadIdx.x) % WARP;
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    teams[threadIdx.x / WARP][lane + WARP * k] = sums[k];
  }
  __syncthreads();
  int c = 4 * static_cast<int>(threadIdx.x);
  if (c < group) {
    float4 total = teams[0][threadIdx.x];
    for (int team = 1; team < TEAMS; team++) {
      total = total + teams[team][threadIdx.x];
    }
    float* to = partial + static_cast<long long>(blockIdx.x) * group;
    storeQuad(to + c, total, group - c, isWide(partial, group));
  }
}

// The same for wider groups; partial holds the sums over the 32 groups of each block. Launch:
// ceil(groups / 32) blocks, dynamic shared memory of 16·(ceil(group / 4) − 1024) bytes where that is
// positive.
extern "C" __global__ void rms_norm_backward_wide(const float* x, const float* weight, float eps, const float* dOut,
                                                  float* dX, float* partial, long long groups, int group) {
  DYNAMIC_SHARED(float4, more);
  float4 sums[KEPT];
  differentiate<THREADS>(x, weight, eps, dOut, dX, groups, group, sums, more);
  float* to = partial + static_cast<long long>(blockIdx.x) * group;
  bool wide = isWide(partial, group);
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    int c = 4 * (static_cast<int>(threadIdx.x) + THREADS * k);
    if (c < group) {
      storeQuad(to + c, sums[k], group - c, wide);
    }
  }
  for (int c = 4 * (static_cast<int>(threadIdx.x) + THREADS * KEPT); c < group; c += 4 * THREADS) {
    storeQuad(to + c, more[c / 4 - KEPT * THREADS], group - c, wide);
  }
}

// accumulated[c] += Σ partial[r, c] over all rows; partial [rows, columns]. Each of 32 warps adds up
// every 32nd row, then those sums come in order. Launch: ceil(columns / 32) blocks of 1,024 threads.
extern "C" __global__ void add_column_sums(const float* partial, int rows, int columns, float* accumulated) {
  constexpr int WARPS = 32;
  __shared__ float sums[WARPS][WARP];
  int lane = static_cast<int>(threadIdx.x) % WARP, warp = static_cast<int>(threadIdx.x) / WARP;
  int c = static_cast<int>(blockIdx.x) * WARP + lane;
  float sum = 0.f;
  if (c < columns) {
#pragma unroll 4
    for (int r = warp; r < rows; r += WARPS) {
      sum += partial[static_cast<long long>(r) * columns + c];
    }
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && c < columns) {
    float total = sums[0][lane];
    for (int w = 1; w < WARPS; w++) {
      total += sums[w][lane];
    }
    accumulated[c] += total;
  }
}
