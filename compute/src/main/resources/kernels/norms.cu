// RMSNorm over groups of columns: a whole row, or one head of it. A group is worked on by a team, its
// values four by four in turn: 8 threads for at most 128 columns, 32 for at most 512, else a block of 256;
// what a thread reads first of its group stays in registers. Blocks have 256 threads. Sums run in an
// order that the width of the group alone decides.
#include "quads.cuh"

constexpr int THREADS = 256;
constexpr int HEAD = 8;            // threads of the smallest team
constexpr int KEPT = BATCH;        // quads a thread keeps: all of a group, or 4,096 columns of a block
constexpr int GROUPS_A_TEAM = 32;  // whose share of the weight's gradient is summed before it is written

struct Two {
  float a, b;
};

// Sums over the threads of a team, the same in each. All threads of the block take part.
template <int TEAM>
__device__ __forceinline__ Two teamSum(Two value) {
  Two sum = value;
  for (int distance = (TEAM < WARP ? TEAM : WARP) / 2; distance > 0; distance /= 2) {
    sum.a += __shfl_xor_sync(ALL_LANES, sum.a, distance);
    sum.b += __shfl_xor_sync(ALL_LANES, sum.b, distance);
  }
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

template <int TEAM, bool WIDE>
__device__ __forceinline__ void normalize(const float* x, const float* weight, float eps, float* out,
                                          long long groups, int group) {
  constexpr int STEP = 4 * TEAM;
  long long g = (static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x) / TEAM;
  int first = 4 * static_cast<int>(threadIdx.x % TEAM);
  int end = g < groups ? group : 0;
  const float* from = x + g * group;
  float* to = out + g * group;
  float4 kept[KEPT];
  loadBatch<WIDE>(kept, from, first, STEP, end);
  float squares = 0.f;
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    squares = addSquares(squares, kept[k]);
  }
  for (int c = first + STEP * KEPT; c < end; c += STEP) {
    squares = addSquares(squares, loadQuad<WIDE>(from + c, end - c));
  }
  float factor = inverseRoot(teamSum<TEAM>({squares, 0.f}).a, group, eps);
  float4 w[KEPT];
  loadBatch<WIDE>(w, weight, first, STEP, end);
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    kept[k] = scaled(kept[k], factor, w[k]);
  }
  storeBatch<WIDE>(to, kept, first, STEP, end);
  for (int c = first + STEP * KEPT; c < end; c += STEP) {
    float4 value = loadQuad<WIDE>(from + c, end - c);
    storeQuad<WIDE>(to + c, scaled(value, factor, loadQuad<WIDE>(weight + c, end - c)), end - c);
  }
}

template <int TEAM>
__device__ __forceinline__ void normalize(const float* x, const float* weight, float eps, float* out,
                                          long long groups, int group) {
  if (isWide(x, group) && isWide(weight, 0) && isWide(out, 0)) {
    normalize<TEAM, true>(x, weight, eps, out, groups, group);
  } else {
    normalize<TEAM, false>(x, weight, eps, out, groups, group);
  }
}

// out = x·weight / sqrt(mean(x²) + eps) over each group; x, out [groups, group], weight [group];
// overwrites; out may be x. For groups of at most 128 columns. Launch: ceil(groups / 32) blocks.
extern "C" __global__ void rms_norm_head(const float* x, const float* weight, float eps, float* out, long long groups,
                                         int group) {
  normalize<HEAD>(x, weight, eps, out, groups, group);
}

// The same for at most 512 columns. Launch: ceil(groups / 8) blocks.
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

// The weight's quad at column c.
template <bool WIDE>
__device__ __forceinline__ float4 weightAt(const float* weight, int c, int group) {
  return c < group ? loadQuad<WIDE>(weight + c, group - c) : make_float4(0.f, 0.f, 0.f, 0.f);
}

// Each team goes through GROUPS_A_TEAM groups, those of a block side by side. With
// s = 1/sqrt(mean(x²) + eps) and g = dOut·weight: dX = s·(g − x·s²·mean(g·x)). Leaves the team's
// Σ dOut·x·s in `sums`, and of the quads of columns beyond those kept in `more`.
template <int TEAM, bool WIDE>
__device__ __forceinline__ void differentiate(const float* x, const float* weight, float eps, const float* dOut,
                                              float* dX, long long groups, int group, float4 (&sums)[KEPT],
                                              float4* more) {
  constexpr int TEAMS = THREADS / TEAM;
  constexpr int STEP = 4 * TEAM;
  int first = 4 * static_cast<int>(threadIdx.x % TEAM);
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    sums[k] = make_float4(0.f, 0.f, 0.f, 0.f);
  }
  for (int c = first + STEP * KEPT; c < group; c += STEP) {
    more[c / 4 - KEPT * TEAM] = make_float4(0.f, 0.f, 0.f, 0.f);
  }
  long long g = static_cast<long long>(blockIdx.x) * TEAMS * GROUPS_A_TEAM + threadIdx.x / TEAM;
  for (int turn = 0; turn < GROUPS_A_TEAM; turn++, g += TEAMS) {
    int end = g < groups ? group : 0;
    const float* from = x + g * group;
    const float* gradient = dOut + g * group;
    float* to = dX + g * group;
    float4 values[KEPT], gradients[KEPT];
    loadBatch<WIDE>(values, from, first, STEP, end);
    loadBatch<WIDE>(gradients, gradient, first, STEP, end);
    Two terms = {0.f, 0.f};
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
      terms = addTerms(terms, {values[k], gradients[k]}, weightAt<WIDE>(weight, first + STEP * k, group));
    }
    for (int c = first + STEP * KEPT; c < end; c += STEP) {
      Gradient q = {loadQuad<WIDE>(from + c, end - c), loadQuad<WIDE>(gradient + c, end - c)};
      terms = addTerms(terms, q, loadQuad<WIDE>(weight + c, end - c));
    }
    terms = teamSum<TEAM>(terms);
    float factor = inverseRoot(terms.a, group, eps);
    float back = terms.b / static_cast<float>(group) * factor * factor;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
      Gradient q = {values[k], gradients[k]};
      values[k] = inputGradient(q, weightAt<WIDE>(weight, first + STEP * k, group), factor, back);
      sums[k] = addWeightGradient(sums[k], q, factor);
    }
    storeBatch<WIDE>(to, values, first, STEP, end);
    for (int c = first + STEP * KEPT; c < end; c += STEP) {
      Gradient q = {loadQuad<WIDE>(from + c, end - c), loadQuad<WIDE>(gradient + c, end - c)};
      storeQuad<WIDE>(to + c, inputGradient(q, loadQuad<WIDE>(weight + c, end - c), factor, back), end - c);
      float4& sum = more[c / 4 - KEPT * TEAM];
      sum = addWeightGradient(sum, q, factor);
    }
  }
}

template <int TEAM>
__device__ __forceinline__ void differentiate(const float* x, const float* weight, float eps, const float* dOut,
                                              float* dX, long long groups, int group, float4 (&sums)[KEPT],
                                              float4* more) {
  if (isWide(x, group) && isWide(weight, 0) && isWide(dOut, 0) && isWide(dX, 0)) {
    differentiate<TEAM, true>(x, weight, eps, dOut, dX, groups, group, sums, more);
  } else {
    differentiate<TEAM, false>(x, weight, eps, dOut, dX, groups, group, sums, more);
  }
}

// Gradients of rms_norm over groups that fit into the registers of their team; leaves in partial [blocks, group]
// the sums over the groups of each block.
template <int TEAM>
__device__ __forceinline__ void differentiateGroups(const float* x, const float* weight, float eps,
                                                    const float* dOut, float* dX, float* partial,
                                                    long long groups, int group) {
  constexpr int TEAMS = THREADS / TEAM;
  __shared__ float4 teams[TEAMS][KEPT * TEAM];
  float4 sums[KEPT];
  differentiate<TEAM>(x, weight, eps, dOut, dX, groups, group, sums, nullptr);
#pragma unroll
  for (int k = 0; k < KEPT; k++) {
    teams[threadIdx.x / TEAM][threadIdx.x % TEAM + TEAM * k] = sums[k];
  }
  __syncthreads();
  int c = 4 * static_cast<int>(threadIdx.x);
  if (c < group) {
    float4 total = teams[0][threadIdx.x];
    for (int team = 1; team < TEAMS; team++) {
      total = total + teams[team][threadIdx.x];
    }
    float* to = partial + static_cast<long long>(blockIdx.x) * group;
    storeQuad<false>(to + c, total, group - c);
  }
}

// Gradients of rms_norm over groups of at most 128 columns; x, dOut, dX [groups, group], weight [group].
// dX is overwritten and may be dOut; partial [blocks, group] is overwritten with the weight's gradient
// over the 1,024 groups of each block. Launch: ceil(groups / 1024) blocks.
extern "C" __global__ __launch_bounds__(THREADS, 2) void rms_norm_backward_head(
    const float* x, const float* weight, float eps, const float* dOut, float* dX, float* partial,
    long long groups, int group) {
  differentiateGroups<HEAD>(x, weight, eps, dOut, dX, partial, groups, group);
}

// The same for at most 512 columns; partial holds the sums over 256 groups. Launch: ceil(groups / 256) blocks.
extern "C" __global__ __launch_bounds__(THREADS, 2) void rms_norm_backward_narrow(
    const float* x, const float* weight, float eps, const float* dOut, float* dX, float* partial,
    long long groups, int group) {
  differentiateGroups<WARP>(x, weight, eps, dOut, dX, partial, groups, group);
}

// The same for wider groups; partial holds the sums over the 32 groups of each block. Launch:
// ceil(groups / 32) blocks, dynamic shared memory of 16·(ceil(group / 4) − 1024) bytes where that is
// positive.
extern "C" __global__ __launch_bounds__(THREADS, 2) void rms_norm_backward_wide(
    const float* x, const float* weight, float eps, const float* dOut, float* dX, float* partial,
    long long groups, int group) {
  DYNAMIC_SHARED(float4, more);
  float4 sums[KEPT];
  differentiate<THREADS>(x, weight, eps, dOut, dX, groups, group, sums, more);
  float* to = partial + static_cast<long long>(blockIdx.x) * group;
  storeBatch<false>(to, sums, 4 * static_cast<int>(threadIdx.x), 4 * THREADS, group);
  for (int c = 4 * (static_cast<int>(threadIdx.x) + THREADS * KEPT); c < group; c += 4 * THREADS) {
    storeQuad<false>(to + c, more[c / 4 - KEPT * THREADS], group - c);
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
