// The threads of the block that runs.
#pragma once
#include "emulator.h"

#ifndef __x86_64__
#include <ucontext.h>
#endif

struct uint3 {
  unsigned x, y, z;
};

namespace emulator {

constexpr int WARP = 32;

enum class State : uint8_t { READY, AT_BARRIER, IN_WARP, DONE };

struct Copy {
  void* shared;
  const void* global;
  int bytes;
  int zeros;
  int group;
};

struct Fiber {
  int stack;  // -1: not begun, or done
#ifdef __x86_64__
  void* stackPointer;
#else
  ucontext_t context;
#endif
  uint3 index;
  State state;
  std::vector<Copy> copies;  // begun and not yet waited for
  int groups;                // of copies, committed
};

enum class Meeting : uint8_t { NONE, SHUFFLE, SYNC };

struct Warp {
  int alive;
  int arrived;
  uint16_t epoch;
  Meeting meeting;
  uint64_t values[2][WARP][3];  // of the meeting under way and of the last one
  uint32_t present[2];
  int generation;
};

struct Block {
  Launch const* launch;
  uint3 index;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  std::vector<int> order;
  int current;
  int alive;
  int arrived;
  Result result;
  bool running;
#ifdef __x86_64__
  void* schedulerStack;
#else
  ucontext_t scheduler;
#endif
  void* dynamicShared;
};

extern Block block;

inline Fiber& self() { return block.fibers[block.current]; }
inline Warp& warp() { return block.warps[block.current / WARP]; }

// Stops the thread that runs, until its state is READY and its turn has come.
void toScheduler();
// Ends the barrier at which all threads have arrived.
void releaseBarrier();
// Leaves values with the other lanes; returns the slot where all of them lie.
int meet(Meeting meeting, uint64_t a, uint64_t b, uint64_t c);

}  // namespace emulator
