// Attention of draft blocks over their document's context and themselves; block_attention_queries.cu and
// block_attention_keys.cu hold its gradients.
#include "draft_blocks.cuh"

template <int D>
__device__ __forceinline__ void blockAttention(const float* q, const bf16* contextK, const bf16* contextV,
                                               const bf16* blockK, const bf16* blockV, const int* contextStart,
                                               const int* anchors, float* out, float* logSumExp, const Shape& shape,
                                               bf16* shared) {
  Place place(shape);
  int keyHead = blockIdx.y;
  int lane = place.firstLane + threadIdx.x / WARP * 16 + threadIdx.x % WARP / 4;
  const Lane lanes[2] = {Lane(shape, place.block, keyHead, lane), Lane(shape, place.block, keyHead, lane + 8)};
  int anchor = anchors[place.block];
  Sight sight(shape, place, anchor, lanes);
  const float* from[2];
  float* to[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    bool there = lanes[half].head >= 0;
    from[half] = there ? q + lanes[half].head * shape.headDim : nullptr;
    to[half] = there ? out + lanes[half].head * shape.headDim : nullptr;
  }
  Queries<D, THREADS> queries;
  queries.begin(from, shape.headDim, inPairs(q, shape.headDim));
  int stride = shape.keyValueHeads * D;
  long long context = static_cast<long long>(contextStart[place.block]) * stride + keyHead * D;
  queries.attend(shared, contextK + context, contextV + context, stride, sight.begin, sight.end, sight.context,
                 shape.scale);
  long long own = static_cast<long long>(place.block) * shape.blockSize * stride + keyHead * D;
  queries.attend(shared, blockK + own, blockV + own, stride, 0, shape.blockSize, sight.own, shape.scale);
  float2 logs = queries.finish(to, shape.headDim, inPairs(out, shape.headDim));
  if (threadIdx.x % 4 == 0) {
    if (lanes[0].head >= 0) {
      logSumExp[lanes[0].head] = logs.x;
    }
    if (lanes[1].head >= 0) {
      logSumExp[lanes[1].head] = logs.y;
    }
  }
}

// block_attention_D: q, out[rows, queryHeads·headDim]; contextK, contextV in bf16 [context rows,
// keyValueHeads, D], blockK, blockV in bf16 [rows, keyValueHeads, D], D = headDim padded to 32, 64 or 128;
// contextStart, anchors[blocks]; logSumExp[rows, queryHeads]. out and logSumExp are overwritten, alias
// nothing. Launch: blocks·ceil(blockSize·group / 64) by keyValueHeads blocks of 128 threads, 256·D bytes
// of dynamic shared memory.

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_32(const float* q, const bf16* contextK, const bf16* contextV, const bf16* blockK,
                       const bf16* blockV, const int* contextStart, const int* anchors, float* out,
                       float* logSumExp, int blockSize, int group, int keyValueHeads, int headDim, int window,
                       float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttention<32>(q, contextK, contextV, blockK, blockV, contextStart, anchors, out, logSumExp,
                     {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_64(const float* q, const bf16* contextK, const bf16* contextV, const bf16* blockK,
                       const bf16* blockV, const int* contextStart, const int* anchors, float* out,
                       float* logSumExp, int blockSize, int group, int keyValueHeads, int headDim, int window,
                       float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttention<64>(q, contextK, contextV, blockK, blockV, contextStart, anchors, out, logSumExp,
                     {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_128(const float* q, const bf16* contextK, const bf16* contextV, const bf16* blockK,
                        const bf16* blockV, const int* contextStart, const int* anchors, float* out,
                        float* logSumExp, int blockSize, int group, int keyValueHeads, int headDim, int window,
                        float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttention<128>(q, contextK, contextV, blockK, blockV, contextStart, anchors, out, logSumExp,
                      {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}
