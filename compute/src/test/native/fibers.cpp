// Threads of a block are fibers of one thread; a fiber runs until it waits at a barrier or for its
// warp. Who goes next is drawn from a seed: blocks, warps and threads come in any order.
#include "emulator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#ifndef __x86_64__
#include <ucontext.h>
#endif

struct uint3 {
  unsigned x, y, z;
};

namespace emulator {
namespace {

constexpr size_t STACK = 64 << 10;
constexpr int MOST_THREADS = 1024;
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
} block{};

uint32_t epoch = 16;  // below: never written, or by the host
uint64_t randomState = 1;
char* stacks = nullptr;
std::vector<int> freeStacks;

Fiber& self() { return block.fibers[block.current]; }
Warp& warp() { return block.warps[block.current / WARP]; }
void* const* arguments = nullptr;

#ifdef __x86_64__
// Saves the registers that a function must keep, and goes on where the other stack pointer left off.
asm(R"(
.text
.hidden emulator_switch
.globl emulator_switch
.type emulator_switch,@function
emulator_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size emulator_switch,.-emulator_switch
)");
extern "C" void emulator_switch(void** from, void* to);
void toScheduler() { emulator_switch(&self().stackPointer, block.schedulerStack); }
void toFiber() { emulator_switch(&block.schedulerStack, self().stackPointer); }
#else
void toScheduler() { swapcontext(&self().context, &block.scheduler); }
void toFiber() { swapcontext(&block.scheduler, &self().context); }
#endif

void releaseBarrier() {
  epoch++;
  block.arrived = 0;
  for (Fiber& fiber : block.fibers) {
    if (fiber.state == State::AT_BARRIER) {
      fiber.state = State::READY;
    }
  }
}

void releaseWarp(int number) {
  Warp& warp = block.warps[number];
  if (warp.meeting == Meeting::SYNC) {
    warp.epoch++;
  }
  warp.meeting = Meeting::NONE;
  warp.arrived = 0;
  warp.generation++;
  int end = std::min<int>((number + 1) * WARP, static_cast<int>(block.fibers.size()));
  for (int i = number * WARP; i < end; i++) {
    if (block.fibers[i].state == State::IN_WARP) {
      block.fibers[i].state = State::READY;
    }
  }
}

// Leaves values with the other lanes; returns the slot where all of them lie.
int meet(Meeting meeting, uint64_t a, uint64_t b, uint64_t c) {
  Warp& own = warp();
  if (own.arrived > 0 && own.meeting != meeting) {
    fail(LAUNCH_FAILED, "lanes of one warp wait at different operations");
  }
  int slot = own.generation & 1, lane = block.current % WARP;
  if (own.arrived == 0) {
    own.present[slot] = 0;
  }
  own.meeting = meeting;
  own.present[slot] |= 1u << lane;
  own.values[slot][lane][0] = a;
  own.values[slot][lane][1] = b;
  own.values[slot][lane][2] = c;
  if (++own.arrived == own.alive) {
    releaseWarp(block.current / WARP);
  } else {
    self().state = State::IN_WARP;
    toScheduler();
  }
  return slot;
}

void finish() {
  self().state = State::DONE;
  Warp& own = warp();
  own.alive--;
  block.alive--;
  if (own.arrived > 0 && own.arrived == own.alive) {
    releaseWarp(block.current / WARP);
  }
  if (block.arrived > 0 && block.arrived == block.alive) {
    releaseBarrier();
  }
}

void body() {
  block.launch->kernel->call(arguments);
  if (!self().copies.empty()) {
    fail(LAUNCH_FAILED, "ended before its asynchronous copies were waited for");
  }
  finish();
  toScheduler();
  abort();
}

void prepare(Fiber& fiber, int number) {
  const Extent& size = block.launch->block;
  unsigned n = number;
  fiber.index = {n % size.x, n / size.x % size.y, n / size.x / size.y};
  fiber.state = State::READY;
  fiber.copies.clear();
  fiber.groups = 0;
  fiber.stack = -1;
}

// A thread that never waits takes the stack of the one before it, which is still in the cache.
void begin(Fiber& fiber) {
  fiber.stack = freeStacks.back();
  freeStacks.pop_back();
  char* stack = stacks + (fiber.stack + 1) * STACK;
#ifdef __x86_64__
  // Stacks begin at different sets of the cache.
  auto** top = reinterpret_cast<void**>(stack - fiber.stack % 61 * 192);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(body);
  fiber.stackPointer = top - 6;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = stack - STACK;
  fiber.context.uc_stack.ss_size = STACK;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, body, 0);
#endif
}

void shuffleOrder() {
  for (size_t i = block.order.size(); i > 1; i--) {
    std::swap(block.order[i - 1], block.order[random() % i]);
  }
}

std::string whoWaits() {
  std::string text = "threads wait for each other for ever:";
  char line[80];
  for (auto [state, what] : {std::pair{State::AT_BARRIER, "at __syncthreads"},
                             std::pair{State::IN_WARP, "for their warp"},
                             std::pair{State::DONE, "no more"}}) {
    int count = 0, first = -1;
    for (size_t i = 0; i < block.fibers.size(); i++) {
      if (block.fibers[i].state == state) {
        count++;
        first = first < 0 ? static_cast<int>(i) : first;
      }
    }
    if (count > 0) {
      snprintf(line, sizeof line, " %d %s (first: %d)", count, what, first);
      text += line;
    }
  }
  return text;
}

void runBlock() {
  int count = static_cast<int>(block.launch->block.count());
  block.fibers.resize(count);
  block.warps.assign((count + WARP - 1) / WARP, Warp{});
  block.order.resize(count);
  std::iota(block.order.begin(), block.order.end(), 0);
  block.alive = count;
  block.arrived = 0;
  freeStacks.resize(MOST_THREADS);
  std::iota(freeStacks.begin(), freeStacks.end(), 0);
  for (int i = 0; i < count; i++) {
    prepare(block.fibers[i], i);
    block.warps[i / WARP].alive++;
  }
  epoch++;
  auto* shared = static_cast<char*>(block.dynamicShared);
  beginBlock({shared, shared + block.launch->dynamicShared});
  while (block.alive > 0 && block.result == SUCCESS) {
    shuffleOrder();
    bool moved = false;
    for (int i : block.order) {
      if (block.fibers[i].state == State::READY) {
        moved = true;
        block.current = i;
        if (self().stack < 0) {
          begin(self());
        }
        toFiber();
        if (block.result != SUCCESS) {
          return;
        }
        if (self().state == State::DONE) {
          freeStacks.push_back(self().stack);
        }
      }
    }
    if (!moved) {
      block.result = refuse(LAUNCH_FAILED, "kernel %s, block (%u,%u,%u): %s",
                            block.launch->kernel->name, block.index.x, block.index.y,
                            block.index.z, whoWaits().c_str());
    }
  }
}

void performCopies(Fiber& fiber, int upToGroup) {
  auto& copies = fiber.copies;
  size_t done = 0;
  for (; done < copies.size() && copies[done].group < upToGroup; done++) {
    const Copy& copy = copies[done];
    auto* to = static_cast<char*>(copy.shared);
    if (copy.bytes > copy.zeros) {
      access(copy.global, copy.bytes - copy.zeros, Access::READ);
      memcpy(to, copy.global, copy.bytes - copy.zeros);
    }
    access(to, copy.bytes, Access::WRITE);
    memset(to + copy.bytes - copy.zeros, 0, copy.zeros);
  }
  copies.erase(copies.begin(), copies.begin() + done);
}

float bfloat16(uint64_t bits) {
  auto wide = static_cast<uint32_t>(bits & 0xffff) << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}

}  // namespace

void seed(uint64_t seed) { randomState = seed * 2 + 1; }

uint64_t random() {
  randomState ^= randomState << 13;
  randomState ^= randomState >> 7;
  randomState ^= randomState << 17;
  return randomState >> 11;
}

bool isRunning() { return block.running; }

Moment now() {
  if (!block.running) {
    return {epoch, 0, 0};
  }
  return {epoch, static_cast<uint16_t>(block.current), warp().epoch};
}

std::string place() {
  char text[200];
  uint3 thread = self().index;
  snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)",
           block.launch->kernel->name, block.index.x, block.index.y, block.index.z, thread.x,
           thread.y, thread.z);
  return text;
}

void fail(Result result, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  block.result = refuse(result, "%s: %s", place().c_str(), text);
  toScheduler();
  abort();
}

Result run(const Launch& launch, Span statics, Span constants) {
  if (stacks == nullptr) {
    stacks = static_cast<char*>(mmap(nullptr, MOST_THREADS * STACK, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  std::vector<void*> pointers;
  for (const std::vector<char>& value : launch.arguments) {
    pointers.push_back(const_cast<char*>(value.data()));
  }
  arguments = pointers.data();
  block.launch = &launch;
  block.result = SUCCESS;
  block.dynamicShared = aligned_alloc(1024, (launch.dynamicShared + 2047) / 1024 * 1024);
  memset(block.dynamicShared, 0xff, launch.dynamicShared);
  epoch++;
  beginLaunch({stacks, stacks + MOST_THREADS * STACK}, statics, constants);
  std::vector<uint32_t> blocks(launch.grid.count());
  std::iota(blocks.begin(), blocks.end(), 0u);
  for (size_t i = blocks.size(); i > 1; i--) {
    std::swap(blocks[i - 1], blocks[random() % i]);
  }
  block.running = true;
  for (uint32_t number : blocks) {
    block.index = {number % launch.grid.x, number / launch.grid.x % launch.grid.y,
                   number / launch.grid.x / launch.grid.y};
    runBlock();
    if (block.result != SUCCESS) {
      break;
    }
  }
  block.running = false;
  epoch++;
  free(block.dynamicShared);
  return block.result;
}

}  // namespace emulator

using namespace emulator;

#pragma GCC visibility push(default)
extern "C" {

uint3 emulator_thread_index() { return self().index; }
uint3 emulator_block_index() { return block.index; }
uint3 emulator_block_size() {
  const Extent& size = block.launch->block;
  return {size.x, size.y, size.z};
}
uint3 emulator_grid_size() {
  const Extent& size = block.launch->grid;
  return {size.x, size.y, size.z};
}
void* emulator_dynamic_shared() { return block.dynamicShared; }
void emulator_require_aligned(const void* address, int bytes) {
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0) {
    fail(ILLEGAL_ADDRESS, "%s is not aligned for %d bytes", describe(address).c_str(), bytes);
  }
}
int emulator_lane() { return block.current % WARP; }

void emulator_sync_threads() {
  if (++block.arrived == block.alive) {
    releaseBarrier();
  } else {
    self().state = State::AT_BARRIER;
    toScheduler();
  }
}

void emulator_sync_warp() { meet(Meeting::SYNC, 0, 0, 0); }

uint64_t emulator_shuffle(uint64_t value, int lane) {
  int slot = meet(Meeting::SHUFFLE, value, 0, 0);
  Warp& own = warp();
  if (lane < 0 || lane >= WARP || (own.present[slot] >> lane & 1) == 0) {
    fail(LAUNCH_FAILED, "shuffles with lane %d, which takes no part", lane);
  }
  return own.values[slot][lane][0];
}

unsigned emulator_ballot(int predicate) {
  int slot = meet(Meeting::SHUFFLE, predicate != 0, 0, 0);
  Warp& own = warp();
  unsigned result = 0;
  for (int lane = 0; lane < WARP; lane++) {
    if ((own.present[slot] >> lane & 1) != 0 && own.values[slot][lane][0] != 0) {
      result |= 1u << lane;
    }
  }
  return result;
}

// cp.async: what is copied arrives when it is waited for, not before.
void emulator_copy_async(void* shared, const void* global, int bytes, int zeros) {
  self().copies.push_back({shared, global, bytes, zeros, self().groups});
}
void emulator_copy_commit() { self().groups++; }
void emulator_copy_wait(int pending) { performCopies(self(), self().groups - pending); }

// ldmatrix: lane l gives the address of a row of eight 16-bit values of matrix l / 8.
void emulator_load_matrix(uint32_t* registers, const void* row, int matrices, int transposed) {
  int slot = meet(Meeting::SHUFFLE, reinterpret_cast<uint64_t>(row), 0, 0);
  uint64_t(*rows)[3] = warp().values[slot];
  int lane = block.current % WARP;
  for (int matrix = 0; matrix < matrices; matrix++) {
    uint16_t pair[2];
    for (int i = 0; i < 2; i++) {
      int r = transposed ? lane % 4 * 2 + i : lane / 4;
      int c = transposed ? lane / 4 : lane % 4 * 2 + i;
      auto* from = reinterpret_cast<const uint16_t*>(rows[matrix * 8 + r][0]);
      if (reinterpret_cast<uintptr_t>(from) % 16 != 0) {
        fail(ILLEGAL_ADDRESS, "ldmatrix reads a row that is not aligned for 16 bytes");
      }
      access(from + c, 2, Access::READ);
      pair[i] = from[c];
    }
    registers[matrix] = pair[0] | static_cast<uint32_t>(pair[1]) << 16;
  }
}

// mma.sync.m16n8k16: c[16, 8] += a[16, 16] · b[16, 8], each lane holding its fragments.
void emulator_mma_bf16(float* c, const uint32_t* a, const uint32_t* b) {
  auto both = [](uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; };
  int slot = meet(Meeting::SHUFFLE, both(a[0], a[1]), both(a[2], a[3]), both(b[0], b[1]));
  uint64_t(*values)[3] = warp().values[slot];
  int lane = block.current % WARP;
  for (int i = 0; i < 4; i++) {
    int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    float sum = c[i];
    for (int k = 0; k < 16; k++) {
      int place = k % 8 / 2;
      uint64_t left = values[row % 8 * 4 + place][k / 8] >> (row / 8 * 32 + k % 2 * 16);
      uint64_t right = values[column * 4 + place][2] >> (k / 8 * 32 + k % 2 * 16);
      sum = std::fma(bfloat16(left), bfloat16(right), sum);
    }
    c[i] = sum;
  }
}

int emulator_atomic_add_int(int* address, int value) {
  access(address, sizeof *address, Access::ATOMIC);
  int old = *address;
  *address = static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value));
  return old;
}
unsigned long long emulator_atomic_add_long(unsigned long long* address, unsigned long long value) {
  access(address, sizeof *address, Access::ATOMIC);
  unsigned long long old = *address;
  *address = old + value;
  return old;
}
int emulator_atomic_max_int(int* address, int value) {
  access(address, sizeof *address, Access::ATOMIC);
  int old = *address;
  *address = std::max(old, value);
  return old;
}
int emulator_atomic_or_int(int* address, int value) {
  access(address, sizeof *address, Access::ATOMIC);
  int old = *address;
  *address = old | value;
  return old;
}
}
#pragma GCC visibility pop
