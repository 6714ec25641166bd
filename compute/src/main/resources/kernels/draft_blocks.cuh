// Where the lanes of draft blocks stand, and what they see: for the attention of draft blocks and its gradients.
//
// Queries of one key/value head's group stand side by side: lane l of a draft block is its slot l / group,
// query head l % group of the group. Keys come in tiles of 64, the context's counted from the document's
// beginning and then the block's own, so a query's result depends on nothing but what it sees.
#pragma once
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

// Of queries, what gradients are made of. With p the softmax of a query's scores and delta = Σ dOut·out over a
// head's values:
//   dP = dOut·vᵀ, dS = p·(dP − delta)·scale, dQ = dS·k, dK = dSᵀ·q, dV = pᵀ·dOut.
// Scores are computed again, once for the queries and once for the keys; p comes from logSumExp.
struct Heads {
  const bf16* q;     // [rows, queryHeads, D]
  const bf16* dOut;  // the same
  const float* logSumExp;  // [rows, queryHeads]
  const float* delta;      // the same
};
