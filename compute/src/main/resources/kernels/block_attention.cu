// Attention of draft blocks over their document's context and themselves, and its gradients.
//
// Queries of one key/value head's group stand side by side: lane l of a draft block is its slot l / group,
// query head l % group of the group. Keys come in tiles of 64, the context's counted from the document's
// beginning and then the block's own, so a query's result depends on nothing but what it sees. Gradients
// of a key are summed over the draft blocks in ascending order by the one thread block that owns it.
#include "attention.cuh"

constexpr int THREADS = 128;
constexpr int LANES = THREADS / WARP * 16;
constexpr int KEY_TILE = 64;  // every tile of keys begins at a multiple of this or of its half

struct Shape {
  int blockSize;  // slots of a draft block
  int group;      // query heads of a key/value head
  int keyValueHeads;
  int headDim;
  int window;     // 0: all of the context and of the own block
  float scale;

  __device__ __forceinline__ int lanes() const { return blockSize * group; }
  __device__ __forceinline__ int queryHeads() const { return keyValueHeads * group; }

  // First context position that a slot of a block at `anchor` sees.
  __device__ __forceinline__ int firstSeen(int anchor, int slot) const {
    return window > 0 ? min(anchor, max(0, anchor + slot - window + 1)) : 0;
  }
  // How many slots of its own block a slot sees.
  __device__ __forceinline__ int ownSeen(int slot) const { return window > 0 ? slot + 1 : blockSize; }
};

// One lane of a draft block: where it stands in matrices of [rows, queryHeads] heads.
struct Lane {
  int slot;
  long long head;  // (row · queryHeads + query head), or −1 past the last lane

  __device__ __forceinline__ Lane(const Shape& shape, int block, int keyHead, int lane) {
    slot = lane / shape.group;
    long long row = static_cast<long long>(block) * shape.blockSize + slot;
    head = lane < shape.lanes() ? row * shape.queryHeads() + keyHead * shape.group + lane % shape.group : -1;
  }
};

// The tile of lanes of this thread block: blocks of a grid go through the tiles of a draft block first.
struct Place {
  int block;
  int firstLane;

  __device__ __forceinline__ explicit Place(const Shape& shape) {
    int tiles = (shape.lanes() + LANES - 1) / LANES;
    block = blockIdx.x / tiles;
    firstLane = blockIdx.x % tiles * LANES;
  }
};

// What a warp's two rows of this lane see: of the context, and of their own block.
struct Sight {
  Seen context;
  Seen own;
  int begin;  // first context position that any lane of the thread block sees, down to a whole tile
  int end;

  __device__ __forceinline__ Sight(const Shape& shape, const Place& place, int anchor, const Lane (&lanes)[2]) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      bool there = lanes[half].head >= 0;
      context.first[half] = shape.firstSeen(anchor, lanes[half].slot);
      context.end[half] = there ? anchor : 0;
      own.first[half] = 0;
      own.end[half] = there ? shape.ownSeen(lanes[half].slot) : 0;
    }
    int first = shape.firstSeen(anchor, place.firstLane / shape.group);
    begin = first - first % KEY_TILE;
    end = first < anchor ? anchor : 0;
  }
};

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

// ---- gradients ----
//
// With p the softmax of a query's scores and delta = Σ dOut·out over a head's values:
//   dP = dOut·vᵀ, dS = p·(dP − delta)·scale, dQ = dS·k, dK = dSᵀ·q, dV = pᵀ·dOut.
// Scores are computed again, once for the queries and once for the keys; p comes from logSumExp.

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

// What a query's gradient is made of, beside keys and values.
struct Heads {
  const bf16* q;     // [rows, queryHeads, D]
  const bf16* dOut;  // the same
  const float* logSumExp;  // [rows, queryHeads]
  const float* delta;      // the same
};

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

// block_attention_queries_D: dQ[rows, queryHeads·headDim] overwritten; q, dOut in bf16 [rows, queryHeads, D];
// delta[rows, queryHeads]; the rest and the launch as block_attention_D, 256·D bytes of shared memory.
//
// block_attention_keys_D: gradients of k and v[key rows, keyValueHeads·headDim]. With tiles (as the host
// lists them, one a block of the grid in x) those of the context, added to dK and dV; without them those of
// the draft blocks' own, overwritten, blocks·ceil(blockSize / 64) blocks of the grid. keyValueHeads in y;
// 128 threads; 512·D + 1,024 bytes of dynamic shared memory.

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
    block_attention_keys_32(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                            const bf16* k, const bf16* v, const int* anchors, const KeyTile* tiles, float* dK,
                            float* dV, int blockSize, int group, int keyValueHeads, int headDim, int window,
                            float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionKeys<32>({q, dOut, logSumExp, delta}, k, v, anchors, tiles, dK, dV,
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
    block_attention_keys_64(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                            const bf16* k, const bf16* v, const int* anchors, const KeyTile* tiles, float* dK,
                            float* dV, int blockSize, int group, int keyValueHeads, int headDim, int window,
                            float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionKeys<64>({q, dOut, logSumExp, delta}, k, v, anchors, tiles, dK, dV,
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

extern "C" __global__ __launch_bounds__(THREADS) void
    block_attention_keys_128(const bf16* q, const bf16* dOut, const float* logSumExp, const float* delta,
                            const bf16* k, const bf16* v, const int* anchors, const KeyTile* tiles, float* dK,
                            float* dV, int blockSize, int group, int keyValueHeads, int headDim, int window,
                            float scale) {
  DYNAMIC_SHARED(bf16, shared);
  blockAttentionKeys<128>({q, dOut, logSumExp, delta}, k, v, anchors, tiles, dK, dV,
                         {blockSize, group, keyValueHeads, headDim, window, scale}, shared);
}
