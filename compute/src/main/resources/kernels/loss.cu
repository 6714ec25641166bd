// The vocabulary loss on logits that exist a chunk at a time; formulas in docs/drafter.md. A chunk is the
// rows `first` … of all slots. For every slot there are five values, each a vector [slots] of
// `results`: loss, confidence, weight, hit (0 or 1), and the logarithm of the softmax's denominator.
// One block of 512 threads works on a row; its sums run in an order that the vocabulary alone decides.
#include "quads.cuh"

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / WARP;

// Stands for values that are not there: far below any logit, its exponential is zero.
constexpr float LEAST = -1e30f;

// Σ exp(value − largest), and where the largest stands first.
struct Softmax {
  float largest, sum;
  int place;

  // Four values at columns c …; those that are not there are LEAST.
  __device__ __forceinline__ void add(float4 z, int c) {
    float most = fmaxf(fmaxf(z.x, z.y), fmaxf(z.z, z.w));
    if (most > largest) {
      sum *= expOf(largest - most);
      largest = most;
      place = c + (z.x == most ? 0 : z.y == most ? 1 : z.z == most ? 2 : 3);
    }
    sum += expOf(z.x - largest) + expOf(z.y - largest) + (expOf(z.z - largest) + expOf(z.w - largest));
  }

  // The same result whichever of the two is asked.
  __device__ __forceinline__ void join(float otherLargest, float otherSum, int otherPlace) {
    float most = fmaxf(largest, otherLargest);
    sum = sum * expOf(largest - most) + otherSum * expOf(otherLargest - most);
    if (otherLargest > largest || (otherLargest == largest && otherPlace < place)) {
      place = otherPlace;
    }
    largest = most;
  }

  __device__ __forceinline__ float log() const { return largest + logOf(sum); }
};

__device__ __forceinline__ float4 times(float4 x, float factor) {
  return make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
}

// Columns from a thread's quad to its next.
constexpr int STEP = 4 * THREADS;

// Over scale·row[columns], the same in all threads of the block.
template <bool WIDE>
__device__ __forceinline__ Softmax softmaxOf(const float* row, int columns, float scale) {
  __shared__ Softmax warps[WARPS];
  Softmax own = {LEAST, 0.f, columns};
  for (int c = 4 * static_cast<int>(threadIdx.x); c < columns; c += BATCH * STEP) {
    float4 quads[BATCH];
    loadBatch<WIDE>(quads, row, c, STEP, columns, LEAST);
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      if (c + k * STEP < columns) {
        own.add(times(quads[k], scale), c + k * STEP);
      }
    }
  }
  for (int distance = WARP / 2; distance > 0; distance /= 2) {
    float largest = __shfl_xor_sync(ALL_LANES, own.largest, distance);
    float sum = __shfl_xor_sync(ALL_LANES, own.sum, distance);
    int place = __shfl_xor_sync(ALL_LANES, own.place, distance);
    own.join(largest, sum, place);
  }
  __syncthreads();  // what was here before has been read
  if (threadIdx.x % WARP == 0) {
    warps[threadIdx.x / WARP] = own;
  }
  __syncthreads();
  Softmax all = warps[0];
  for (int w = 1; w < WARPS; w++) {
    all.join(warps[w].largest, warps[w].sum, warps[w].place);
  }
  return all;
}

// Sum over the block, the same in all threads.
__device__ __forceinline__ float blockSum(float value) {
  __shared__ float warps[WARPS];
  float sum = warpSum(value);
  __syncthreads();
  if (threadIdx.x % WARP == 0) {
    warps[threadIdx.x / WARP] = sum;
  }
  __syncthreads();
  sum = warps[0];
  for (int w = 1; w < WARPS; w++) {
    sum += warps[w];
  }
  return sum;
}

// Cross-entropy (as the loss), hit and log sum of each slot from its logits z [rows, vocabulary], the rows
// being the slots from `first` on; labels [slots]. Overwrites those of results [5, slots]. Launch: a
// block of 512 threads for each row.
extern "C" __global__ void loss_cross_entropy(const float* z, const int* labels, float* results, int slots,
                                              int first, int vocabulary) {
  const float* row = z + static_cast<long long>(blockIdx.x) * vocabulary;
  Softmax softmax =
      isWide(z, vocabulary) ? softmaxOf<true>(row, vocabulary, 1.f) : softmaxOf<false>(row, vocabulary, 1.f);
  if (threadIdx.x == 0) {
    int slot = first + static_cast<int>(blockIdx.x);
    float* to = results + slot;
    long long step = slots;
    float logSum = softmax.log();
    to[0] = logSum - row[labels[slot]];
    to[3 * step] = softmax.place == labels[slot] ? 1.f : 0.f;
    to[4 * step] = logSum;
  }
}

// The weight of each slot of the `blocks` blocks from slot `first` on: position[slotsPerBlock], times with
// streak the expected streak Σ_{j≥k} Π_{i≤j} ((1 − alpha)·q_i + alpha), q the probability of the label.
// Reads the cross-entropy in results [5, slots] and overwrites the weights. Launch: one thread a block of slots.
extern "C" __global__ void loss_weights(float* results, const double* position, float alpha, int streak,
                                        int slots, int first, int slotsPerBlock, int blocks) {
  long long block = globalThread();
  if (block < blocks) {
    const float* loss = results + first + block * slotsPerBlock;
    float* weight = results + 2LL * slots + first + block * slotsPerBlock;
    for (int k = 0; k < slotsPerBlock; k++) {
      double factor = 1;
      if (streak != 0) {
        double run = 1;
        factor = 0;
        for (int j = 0; j < slotsPerBlock; j++) {
          run *= (1 - static_cast<double>(alpha)) * expOf(-loss[j]) + alpha;
          factor += j >= k ? run : 0;
        }
      }
      weight[k] = static_cast<float>(position[k] * factor);
    }
  }
}

// Σ p·(log p − log q) of a thread, log p = t·scale − logT and log q = z·scale − logZ.
template <bool WIDE>
__device__ __forceinline__ float divergenceOf(const float* t, const float* z, float logT, float logZ, float scale,
                                              int columns) {
  float sum = 0.f;
  for (int c = 4 * static_cast<int>(threadIdx.x); c < columns; c += BATCH * STEP) {
    float4 teachers[BATCH], own[BATCH];
    loadBatch<WIDE>(teachers, t, c, STEP, columns, LEAST);
    loadBatch<WIDE>(own, z, c, STEP, columns, LEAST);
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      const float* p = &teachers[k].x;
      const float* q = &own[k].x;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float logP = fmaf(p[i], scale, -logT);
        sum = fmaf(expOf(logP), logP - fmaf(q[i], scale, -logZ), sum);
      }
    }
  }
  return sum;
}

// Σ q·log q of a thread, log q = z − logSum.
template <bool WIDE>
__device__ __forceinline__ float logarithmsOf(const float* z, float logSum, int columns) {
  float sum = 0.f;
  for (int c = 4 * static_cast<int>(threadIdx.x); c < columns; c += BATCH * STEP) {
    float4 own[BATCH];
    loadBatch<WIDE>(own, z, c, STEP, columns, LEAST);
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      const float* q = &own[k].x;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float log = q[i] - logSum;
        sum = fmaf(expOf(log), log, sum);
      }
    }
  }
  return sum;
}

template <bool WIDE>
__device__ __forceinline__ void softTerms(const float* z, const float* t, float* results, float* logSums, float kl,
                                          float scale, float cap, int slots, int first, int vocabulary) {
  long long begin = static_cast<long long>(blockIdx.x) * vocabulary, step = slots;
  float* to = results + first + blockIdx.x;
  float logSum = to[4 * step];
  bool confident = cap != 0.f && to[3 * step] != 0.f;
  float divergence = 0.f, entropy = 0.f;
  if (t != nullptr) {
    float logZ = scale == 1.f ? logSum : softmaxOf<WIDE>(z + begin, vocabulary, scale).log();
    float logT = softmaxOf<WIDE>(t + begin, vocabulary, scale).log();
    divergence = blockSum(divergenceOf<WIDE>(t + begin, z + begin, logT, logZ, scale, vocabulary));
    if (threadIdx.x == 0) {
      logSums[blockIdx.x] = logZ;
      logSums[gridDim.x + blockIdx.x] = logT;
    }
  }
  if (confident) {
    entropy = -blockSum(logarithmsOf<WIDE>(z + begin, logSum, vocabulary));
  }
  __syncthreads();  // all have read what is overwritten now
  if (threadIdx.x == 0) {
    if (t != nullptr) {
      to[0] = (1.f - kl) * to[0] + kl * (divergence / (scale * scale));
    }
    to[step] = entropy;
  }
}

// The terms beyond cross-entropy. With teacher logits t [rows, vocabulary], or null:
// loss = (1 − kl)·loss + kl·T²·KL(softmax(t/T) ‖ softmax(z/T)), T = 1/scale; with cap ≠ 0 the
// confidence is the entropy of softmax(z) where the label was hit, otherwise 0. Both overwrite theirs
// in results [5, slots]; logSums [2, rows] is overwritten with those of z/T and t/T when t is there.
// Launch: a block of 512 threads for each row.
extern "C" __global__ void loss_soft_terms(const float* z, const float* t, float* results, float* logSums, float kl,
                                           float scale, float cap, int slots, int first, int vocabulary) {
  if (isWide(z, vocabulary) && isWide(t, vocabulary)) {
    softTerms<true>(z, t, results, logSums, kl, scale, cap, slots, first, vocabulary);
  } else {
    softTerms<false>(z, t, results, logSums, kl, scale, cap, slots, first, vocabulary);
  }
}

// What turns the logits of one slot into their gradient.
struct Slope {
  float hard, confidence, soft;  // factors of the terms
  float entropy, logSum, logZ, logT;
  float scale;
  int label;
};

// At columns c …; t or null.
template <bool WIDE>
__device__ __forceinline__ void differentiate(float* z, const float* t, Slope slope, int c, int columns) {
  float4 own[BATCH], teachers[BATCH];
  loadBatch<WIDE>(own, z, c, STEP, columns, LEAST);
  if (t != nullptr) {
    loadBatch<WIDE>(teachers, t, c, STEP, columns, LEAST);
  }
#pragma unroll
  for (int k = 0; k < BATCH; k++) {
    float* values = &own[k].x;
    const float* p = &teachers[k].x;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      float logit = values[i];
      float log = logit - slope.logSum;
      float value = expOf(log) * fmaf(-slope.confidence, log + slope.entropy, slope.hard);
      if (c + k * STEP + i == slope.label) {
        value -= slope.hard;
      }
      if (t != nullptr) {
        float q = expOf(fmaf(logit, slope.scale, -slope.logZ));
        value += slope.soft * (q - expOf(fmaf(p[i], slope.scale, -slope.logT)));
      }
      values[i] = value;
    }
  }
  storeBatch<WIDE>(z, own, c, STEP, columns);
}

// The logits of every slot become their gradient: with weight = supervised·w,
// weight·((1 − kl)·(q − [v = label]) − cap·[hit]·q·(log q + entropy) + kl·T·(q_T − p_T)), zero where weight is.
// z, t [rows, vocabulary], t or null; labels, supervised [slots]; results [5, slots]; logSums [2, rows].
// Launch: rows x ceil(vocabulary / 8192) blocks of 512 threads.
extern "C" __global__ void loss_gradient(float* z, const float* t, const float* results, const float* logSums,
                                         const int* labels, const int* supervised, float kl, float scale,
                                         float cap, int slots, int first, int vocabulary) {
  int row = static_cast<int>(blockIdx.x), slot = first + row;
  const float* own = results + slot;
  long long step = slots;
  float* to = z + static_cast<long long>(row) * vocabulary;
  bool wide = isWide(z, vocabulary) && isWide(t, vocabulary);
  int c = static_cast<int>(blockIdx.y) * BATCH * STEP + 4 * static_cast<int>(threadIdx.x);
  float weight = supervised[slot] != 0 ? own[2 * step] : 0.f;
  if (weight == 0.f) {
    float4 zeros[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      zeros[k] = make_float4(0.f, 0.f, 0.f, 0.f);
    }
    if (wide) {
      storeBatch<true>(to, zeros, c, STEP, vocabulary);
    } else {
      storeBatch<false>(to, zeros, c, STEP, vocabulary);
    }
    return;
  }
  const float* taught = nullptr;
  Slope slope = {(1.f - kl) * weight, own[3 * step] != 0.f ? cap * weight : 0.f, 0.f, own[step], own[4 * step],
                 0.f, 0.f, scale, labels[slot]};
  if (t != nullptr) {
    taught = t + static_cast<long long>(row) * vocabulary;
    slope.soft = kl * weight / scale;
    slope.logZ = logSums[row];
    slope.logT = logSums[gridDim.x + row];
  }
  if (wide) {
    differentiate<true>(to, taught, slope, c, vocabulary);
  } else {
    differentiate<false>(to, taught, slope, c, vocabulary);
  }
}
