// Gradients of the attention of draft blocks (block_attention.cu): those of keys and values. They are summed over
// the draft blocks in ascending order by the one thread block that owns the keys.
#include "draft_blocks.cuh"

// A tile of keys whose gradients one thread block computes, and the draft blocks that may see them.
struct KeyTile {
  int firstRow;    // of the document in the context, or of the draft block
  int firstKey;    // a multiple of 64
  int endKey;      // keys that anybody sees
  int firstBlock;
  int endBlock;
};

// A lane's part in the gradients of keys: what it sees, and the numbers that belong to its softmax.
struct LaneNumbers {
  float log;
  float delta;
  int first;
  int end;
};

// Gradients of 64 keys and values, a warp 16 of them, over the lanes of draft blocks in ascending order.
template <int D>
struct KeyGradients {
  static constexpr int KEYS = KEY_TILE;
  static constexpr int SOME = 32;  // lanes at a time
  using KeyLines = HeadSlice<KEYS, D, THREADS>;
  using LaneLines = HeadSlice<SOME, D, THREADS>;
  static constexpr int STAGE = 2 * LaneLines::VALUES;  // values: q and dOut of some lanes

  const Shape& shape;
  const Heads& heads;
  const int* anchors;
  const KeyTile& tile;
  bool own;      // the keys are the draft block's own
  bf16* shared;  // keys, values, two stages of lanes, their numbers

  // Lanes of a draft block that see some of the keys.
  struct Cursor {
    int block;
    int lane;
  };

  __device__ __forceinline__ bf16* stage(int n) const { return shared + 2 * KeyLines::VALUES + n * STAGE; }
  __device__ __forceinline__ LaneNumbers* numbers(int n) const {
    return reinterpret_cast<LaneNumbers*>(stage(2)) + n * SOME;
  }

  __device__ __forceinline__ bool visible(int block) const {
    if (own) {
      return true;
    }
    int anchor = anchors[block];
    return anchor > tile.firstKey && shape.firstSeen(anchor, 0) < min(anchor, tile.firstKey + KEYS);
  }

  __device__ __forceinline__ Cursor from(int block) const {
    while (block < tile.endBlock && !visible(block)) {
      block++;
    }
    return {block, 0};
  }

  __device__ __forceinline__ Cursor after(const Cursor& cursor) const {
    int lane = cursor.lane + SOME;
    return lane < shape.lanes() ? Cursor{cursor.block, lane} : from(cursor.block + 1);
  }

  // Begins to copy q and dOut of some lanes, and writes their numbers.
  __device__ __forceinline__ void copy(int n, const Cursor& cursor) const {
    constexpr int CHUNKS = D / 8;
    int chunk = threadIdx.x % CHUNKS;
#pragma unroll
    for (int line = 0; line < SOME; line += LaneLines::LINE_STEP) {
      int at = line + threadIdx.x / CHUNKS;
      Lane lane(shape, cursor.block, blockIdx.y, cursor.lane + at);
      long long value = lane.head < 0 ? 0 : lane.head * D + chunk * 8;
      bf16* to = stage(n) + LaneLines::place(at, chunk);
      copyAsync16(to, heads.q + value, lane.head < 0 ? 16 : 0);
      copyAsync16(to + LaneLines::VALUES, heads.dOut + value, lane.head < 0 ? 16 : 0);
    }
    copyCommit();
    if (threadIdx.x < SOME) {
      Lane lane(shape, cursor.block, blockIdx.y, cursor.lane + threadIdx.x);
      LaneNumbers it = {0, 0, 0, 0};
      if (lane.head >= 0) {
        int anchor = anchors[cursor.block];
        it = {heads.logSumExp[lane.head], heads.delta[lane.head], own ? 0 : shape.firstSeen(anchor, lane.slot),
              own ? shape.ownSeen(lane.slot) : anchor};
      }
      numbers(n)[threadIdx.x] = it;
    }
  }

  // products[16, SOME] = the warp's lines of `keys`[16, D]·lanes[SOME, D]ᵀ.
  __device__ __forceinline__ static void multiply(float (&products)[SOME / 8][4], const bf16* keys,
                                                  const bf16* lanes) {
    int lane = threadIdx.x % WARP;
    int in8 = lane % 8, second = lane / 8 % 2, fourth = lane / 16;
    int row = threadIdx.x / WARP * 16 + second * 8 + in8;
#pragma unroll
    for (int j = 0; j < SOME / 8; j++) {
#pragma unroll
      for (int i = 0; i < 4; i++) {
        products[j][i] = 0;
      }
    }
#pragma unroll
    for (int step = 0; step < D / 16; step++) {
      uint32_t a[4];
      loadMatrix4(a, keys + KeyLines::place(row, step * 2 + fourth));
#pragma unroll
      for (int j = 0; j < SOME / 8; j += 2) {
        uint32_t b[4];
        loadMatrix4(b, lanes + LaneLines::place(j * 8 + fourth * 8 + in8, step * 2 + second));
        mmaBf16(products[j], a, {b[0], b[1]});
        mmaBf16(products[j + 1], a, {b[2], b[3]});
      }
    }
  }

  __device__ __forceinline__ void take(float (&dKeys)[D / 8][4], float (&dValues)[D / 8][4], int n) const {
    const bf16* q = stage(n);
    const bf16* dOut = q + LaneLines::VALUES;
    float weights[SOME / 8][4];
    float gradients[SOME / 8][4];
    multiply(weights, shared, q);
    multiply(gradients, shared + KeyLines::VALUES, dOut);
    int key = tile.firstKey + threadIdx.x / WARP * 16 + threadIdx.x % WARP / 4;
#pragma unroll
    for (int j = 0; j < SOME / 8; j++) {
#pragma unroll
      for (int i = 0; i < 2; i++) {
        LaneNumbers lane = numbers(n)[j * 8 + threadIdx.x % 4 * 2 + i];
#pragma unroll
        for (int half = 0; half < 2; half++) {
          int at = half * 2 + i;
          bool sees = key + half * 8 >= lane.first && key + half * 8 < lane.end;
          float p = sees ? expOf(fmaf(weights[j][at], shape.scale, -lane.log)) : 0.0f;
          weights[j][at] = p;
          gradients[j][at] = p * (gradients[j][at] - lane.delta) * shape.scale;
        }
      }
    }
    addWeighted<SOME, D, LaneLines>(dValues, weights, dOut);
    addWeighted<SOME, D, LaneLines>(dKeys, gradients, q);
  }

  // keys, values, dK and dV from the row of the tile's first document row or slot on.
  __device__ __forceinline__ void run(const bf16* keys, const bf16* values, float* dK, float* dV) const {
    int stride = shape.keyValueHeads * D;
    KeyLines::copy(shared, keys + blockIdx.y * D, stride, tile.firstKey, tile.endKey, 0, D);
    KeyLines::copy(shared + KeyLines::VALUES, values + blockIdx.y * D, stride, tile.firstKey, tile.endKey, 0, D);
    float dKeys[D / 8][4] = {};
    float dValues[D / 8][4] = {};
    Cursor now = from(tile.firstBlock);
    if (now.block < tile.endBlock) {
      copy(0, now);
    }
    int n = 0;
#pragma unroll 1
    while (now.block < tile.endBlock) {
      Cursor next = after(now);
      copyWait<0>();
      __syncthreads();  // these lanes are there, and those before have been used
      if (next.block < tile.endBlock) {
        copy(1 - n, next);
      }
      take(dKeys, dValues, n);
      now = next;
      n = 1 - n;
    }
    copyWait<0>();
    bool pairs = inPairs(dK, shape.headDim) && inPairs(dV, shape.headDim);
    int key = tile.firstKey + threadIdx.x / WARP * 16 + threadIdx.x % WARP / 4;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      bool there = key + half * 8 < tile.endKey;
      long long at = (static_cast<long long>(key + half * 8) * shape.keyValueHeads + blockIdx.y) * shape.headDim;
      storeRow<D>(there ? dK + at : nullptr, dKeys, half, shape.headDim, pairs, !own);
      storeRow<D>(there ? dV + at : nullptr, dValues, half, shape.headDim, pairs, !own);
    }
  }
};

template <int D>
__device__ __forceinline__ void blockAttentionKeys(const Heads& heads, const bf16* k, const bf16* v,
                                                   const int* anchors, const KeyTile* tiles, float* dK, float* dV,
                                                   const Shape& shape, bf16* shared) {
  KeyTile tile;
  if (tiles != nullptr) {
    tile = tiles[blockIdx.x];
  } else {
    int perBlock = (shape.blockSize + KeyGradients<D>::KEYS - 1) / KeyGradients<D>::KEYS;
    int block = blockIdx.x / perBlock;
    tile = {block * shape.blockSize, static_cast<int>(blockIdx.x) % perBlock * KeyGradients<D>::KEYS,
            shape.blockSize, block, block + 1};
  }
  long long row = static_cast<long long>(tile.firstRow) * shape.keyValueHeads;
  KeyGradients<D> gradients = {shape, heads, anchors, tile, tiles == nullptr, shared};
  gradients.run(k + row * D, v + row * D, dK + row * shape.headDim, dV + row * shape.headDim);
}

// block_attention_keys_D: gradients of k and v[key rows, keyValueHeads·headDim]. With tiles (as the host
// lists them, one a block of the grid in x) those of the context, added to dK and dV; without them those of
// the draft blocks' own, overwritten, blocks·ceil(blockSize / 64) blocks of the grid. keyValueHeads in y;
// 128 threads; 512·D + 1,024 bytes of dynamic shared memory. The other arguments as of block_attention_queries_D.

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_keys_32(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                            const bf16* k, const bf16* v, const int* anchors, const KeyTile* tiles, float* dK,
                            float* dV, int blockSize, int group, int keyValueHeads, int headDim, int window,
                            float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionKeys<32>({q, dOut, logSumExp, delta}, k, v, anchors, tiles, dK, dV,
                         {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_keys_64(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                            const bf16* k, const bf16* v, const int* anchors, const KeyTile* tiles, float* dK,
                            float* dV, int blockSize, int group, int keyValueHeads, int headDim, int window,
                            float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionKeys<64>({q, dOut, logSumExp, delta}, k, v, anchors, tiles, dK, dV,
                         {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_keys_128(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                            const bf16* k, const bf16* v, const int* anchors, const KeyTile* tiles, float* dK,
                            float* dV, int blockSize, int group, int keyValueHeads, int headDim, int window,
                            float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionKeys<128>({q, dOut, logSumExp, delta}, k, v, anchors, tiles, dK, dV,
                         {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}
