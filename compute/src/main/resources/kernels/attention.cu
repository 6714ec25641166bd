// Causal attention of sequences: documents of a packed batch, or the last rows of one over its cache.
// Queries of one key/value head's group stand side by side: lane l of a sequence is its query l / group,
// query head l % group of the group. A block of four warps takes 64 lanes, and tiles of 64 keys counted
// from the sequence's beginning, so a query's result depends on nothing but its own keys.
#include "attention.cuh"

constexpr int THREADS = 128;
constexpr int LANES = THREADS / WARP * 16;

// A tile of lanes, as the host lists them: the longest first.
struct Tile {
  int firstQuery;     // row of q and out where the sequence's queries begin
  int queries;        // of the sequence
  int firstKey;       // row of k and v where it begins
  int firstPosition;  // of its first query
  int firstLane;
};

struct Shape {
  int group;         // query heads of a key/value head
  int keyValueHeads;
  int headDim;
  int window;        // 0, or how many keys a query sees at most
  float scale;
};

template <int D>
__device__ __forceinline__ void causalAttention(const float* q, const bf16* k, const bf16* v, float* out,
                                                const Tile& tile, const Shape& shape, bf16* shared) {
  int head = blockIdx.y;
  int warp = threadIdx.x / WARP;
  long long columns = static_cast<long long>(shape.keyValueHeads) * shape.group * shape.headDim;
  const float* from[2];
  float* to[2];
  Seen seen;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    int lane = tile.firstLane + warp * 16 + half * 8 + threadIdx.x % WARP / 4;
    int query = lane / shape.group;
    bool there = query < tile.queries;
    long long at = (tile.firstQuery + query) * columns +
                   static_cast<long long>(head * shape.group + lane % shape.group) * shape.headDim;
    from[half] = there ? q + at : nullptr;
    to[half] = there ? out + at : nullptr;
    int position = tile.firstPosition + query;
    seen.first[half] = shape.window > 0 ? max(0, position + 1 - shape.window) : 0;
    seen.end[half] = there ? position + 1 : 0;
  }
  Queries<D, THREADS> queries;
  queries.begin(from, shape.headDim, inPairs(q, shape.headDim));
  int firstPosition = tile.firstPosition + tile.firstLane / shape.group;
  int lastPosition = tile.firstPosition + min((tile.firstLane + LANES - 1) / shape.group, tile.queries - 1);
  int begin = shape.window > 0 ? max(0, firstPosition + 1 - shape.window) : 0;
  int stride = shape.keyValueHeads * D;
  long long first = static_cast<long long>(tile.firstKey) * stride + head * D;
  queries.attend(shared, k + first, v + first, stride, begin - begin % Queries<D, THREADS>::KEYS, lastPosition + 1,
                 seen, shape.scale);
  queries.finish(to, shape.headDim, inPairs(out, shape.headDim));
}

// causal_attention_D: q, out[rows, heads·headDim]; k, v in bf16 [rows, keyValueHeads, D], D = headDim
// padded to 32, 64 or 128; tiles as the host lists them. out is overwritten, aliases nothing.
// Launch: tiles by keyValueHeads blocks of 128 threads, 256·D bytes of dynamic shared memory.

extern "C" __global__ __launch_bounds__(THREADS) void
    causal_attention_32(const float* q, const bf16* k, const bf16* v, const Tile* tiles, float* out, int group,
                        int keyValueHeads, int headDim, int window, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  causalAttention<32>(q, k, v, out, tiles[blockIdx.x], {group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    causal_attention_64(const float* q, const bf16* k, const bf16* v, const Tile* tiles, float* out, int group,
                        int keyValueHeads, int headDim, int window, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  causalAttention<64>(q, k, v, out, tiles[blockIdx.x], {group, keyValueHeads, headDim, window, scale}, shared);
}

extern "C" __global__ __launch_bounds__(THREADS) void
    causal_attention_128(const float* q, const bf16* k, const bf16* v, const Tile* tiles, float* out, int group,
                         int keyValueHeads, int headDim, int window, float scale) {
  DYNAMIC_SHARED(bf16, shared);
  causalAttention<128>(q, k, v, out, tiles[blockIdx.x], {group, keyValueHeads, headDim, window, scale}, shared);
}
