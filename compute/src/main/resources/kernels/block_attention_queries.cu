// Gradients of the attention of draft blocks (block_attention.cu): those of the queries.
#include "draft_blocks.cuh"

// block_attention_delta: delta[heads] = Σ out·dOut over headDim values, out and dOut[heads, headDim], dOut
// rounded as in dP, from which delta is taken; overwrites. Launch: one warp a head, blocks of 256 threads.
extern "C" __global__ void block_attention_delta(const float* out, const float* dOut, float* delta, int headDim,
                                                 int heads) {
  long long head = globalThread() / WARP;
  int lane = threadIdx.x % WARP;
  float sum = 0;
  if (head < heads) {
    for (int c = lane; c < headDim; c += WARP) {
      sum = fmaf(out[head * headDim + c], toFloat(toBf16(dOut[head * headDim + c])), sum);
    }
  }
  sum = warpSum(sum);
  if (lane == 0 && head < heads) {
    delta[head] = sum;
  }
}

// The gradients of a warp's 16 queries: one tile of keys and values after the other, two of them in
// shared memory.
template <int D>
struct QueryGradients {
  static constexpr int KEYS = 32;
  using Lines = HeadSlice<KEYS, D, THREADS>;

  uint32_t query[D / 16][4];
  uint32_t dOut[D / 16][4];
  float dQuery[D / 8][4];
  float log[2];
  float delta[2];

  // The `a` fragments of two heads, zero where there is none.
  __device__ __forceinline__ static void fetch(uint32_t (&a)[D / 16][4], const bf16* heads, const Lane (&lanes)[2]) {
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        long long head = lanes[i % 2].head;
        int column = step * 16 + i / 2 * 8 + threadIdx.x % 4 * 2;
        a[step][i] = head < 0 ? 0 : *reinterpret_cast<const uint32_t*>(heads + head * D + column);
      }
    }
  }

  __device__ __forceinline__ void begin(const Heads& heads, const Lane (&lanes)[2]) {
    fetch(query, heads.q, lanes);
    fetch(dOut, heads.dOut, lanes);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      long long head = lanes[half].head;
      log[half] = head < 0 ? 0.0f : heads.logSumExp[head];
      delta[half] = head < 0 ? 0.0f : heads.delta[head];
    }
#pragma unroll
    for (int j = 0; j < D / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        dQuery[j][i] = 0;
      }
    }
  }

  __device__ __forceinline__ void take(const bf16* keys, const bf16* values, int key, const Seen& seen, float scale) {
    float scores[KEYS / 8][4];
    float gradients[KEYS / 8][4];
    multiplyByLines<KEYS, D, Lines>(scores, query, keys);
    multiplyByLines<KEYS, D, Lines>(gradients, dOut, values);
    int column = key + threadIdx.x % 4 * 2;
#pragma unroll
    for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        float p = expOf(fmaf(scores[j][i], scale, -log[i / 2]));
        bool sees = seen.sees(i / 2, column + j * 8 + i % 2);
        gradients[j][i] = sees ? p * (gradients[j][i] - delta[i / 2]) * scale : 0.0f;
      }
    }
    addWeighted<KEYS, D, Lines>(dQuery, gradients, keys);
  }

  // As Queries::attend.
  __device__ __forceinline__ void attend(bf16* shared, const bf16* keys, const bf16* values, int lineStride,
                                         int begin, int end, const Seen& seen, float scale) {
    if (begin >= end) {
      return;
    }
    __syncthreads();  // what was in the tiles before has been used
    copy(shared, keys, values, lineStride, begin, end);
    int stage = 0;
#pragma unroll 1
    for (int key = begin; key < end; key += KEYS) {
      copyWait<0>();
      __syncthreads();  // this tile is there, and the one before has been used
      if (key + KEYS < end) {
        copy(shared + (1 - stage) * 2 * Lines::VALUES, keys, values, lineStride, key + KEYS, end);
      }
      if (!__all_sync(ALL_LANES, seen.none(key, KEYS))) {
        bf16* tile = shared + stage * 2 * Lines::VALUES;
        take(tile, tile + Lines::VALUES, key, seen, scale);
      }
      stage = 1 - stage;
    }
  }

  __device__ __forceinline__ static void copy(bf16* tile, const bf16* keys, const bf16* values, int lineStride,
                                              int key, int end) {
    Lines::copy(tile, keys, lineStride, key, end, 0, D);
    Lines::copy(tile + Lines::VALUES, values, lineStride, key, end, 0, D);
    copyCommit();
  }
};

template <int D>
__device__ __forceinline__ void blockAttentionQueries(const Heads& heads, const bf16* contextK, const bf16* contextV,
                                                      const bf16* blockK, const bf16* blockV,
                                                      const int* contextStart, const int* anchors, float* dQ,
                                                      const Shape& shape, bf16* shared) {
  Place place(shape);
  int keyHead = blockIdx.y;
  int lane = place.firstLane + threadIdx.x / WARP * 16 + threadIdx.x % WARP / 4;
  const Lane lanes[2] = {Lane(shape, place.block, keyHead, lane), Lane(shape, place.block, keyHead, lane + 8)};
  Sight sight(shape, place, anchors[place.block], lanes);
  QueryGradients<D> gradients;
  gradients.begin(heads, lanes);
  int stride = shape.keyValueHeads * D;
  long long context = static_cast<long long>(contextStart[place.block]) * stride + keyHead * D;
  gradients.attend(shared, contextK + context, contextV + context, stride, sight.begin, sight.end, sight.context,
                   shape.scale);
  long long own = static_cast<long long>(place.block) * shape.blockSize * stride + keyHead * D;
  gradients.attend(shared, blockK + own, blockV + own, stride, 0, shape.blockSize, sight.own, shape.scale);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    float* to = lanes[half].head < 0 ? nullptr : dQ + lanes[half].head * shape.headDim;
    storeRow<D>(to, gradients.dQuery, half, shape.headDim, inPairs(dQ, shape.headDim), false);
  }
}

// block_attention_queries_D: dQ[rows, queryHeads·headDim] overwritten; q, dOut in bf16 [rows, queryHeads, D];
// delta[rows, queryHeads]; the rest and the launch as block_attention_D, 256·D bytes of shared memory.

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_queries_32(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                               const bf16* contextK, const bf16* contextV, const bf16* blockK, const bf16* blockV,
                               const int* contextStart, const int* anchors, float* dQ, int blockSize, int group,
                               int keyValueHeads, int headDim, int window, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionQueries<32>({q, dOut, logSumExp, delta}, contextK, contextV, blockK, blockV, contextStart, anchors, dQ,
                            {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_queries_64(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                               const bf16* contextK, const bf16* contextV, const bf16* blockK, const bf16* blockV,
                               const int* contextStart, const int* anchors, float* dQ, int blockSize, int group,
                               int keyValueHeads, int headDim, int window, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionQueries<64>({q, dOut, logSumExp, delta}, contextK, contextV, blockK, blockV, contextStart, anchors, dQ,
                            {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_queries_128(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                               const bf16* contextK, const bf16* contextV, const bf16* blockK, const bf16* blockV,
                               const int* contextStart, const int* anchors, float* dQ, int blockSize, int group,
                               int keyValueHeads, int headDim, int window, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionQueries<128>({q, dOut, logSumExp, delta}, contextK, contextV, blockK, blockV, contextStart, anchors, dQ,
                            {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}
