// What a kernel calls: who a thread is, barriers, shuffles, asynchronous copies, tensor cores, atomics.
#include "fibers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace emulator {
namespace {

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
