// Threads of a block are fibers of one thread; a fiber runs until it waits at a barrier or for its
// warp. Who goes next is drawn from a seed: blocks, warps and threads come in any order.
#include "fibers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace emulator {

Block block{};

namespace {

constexpr size_t STACK = 64 << 10;
constexpr int MOST_THREADS = 1024;

uint32_t epoch = 16;  // below: never written, or by the host
uint64_t randomState = 1;
char* stacks = nullptr;
std::vector<int> freeStacks;
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
void toFiber() { emulator_switch(&block.schedulerStack, self().stackPointer); }
#else
void toFiber() { swapcontext(&block.scheduler, &self().context); }
#endif

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

}  // namespace

#ifdef __x86_64__
void toScheduler() { emulator_switch(&self().stackPointer, block.schedulerStack); }
#else
void toScheduler() { swapcontext(&self().context, &block.scheduler); }
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
  beginLaunch(launch.device, {stacks, stacks + MOST_THREADS * STACK}, statics, constants);
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
