// The part of CUDA C++ that the kernels use, for a host compiler. Included before every .cu file.
// What a kernel does with memory is reported by the compiler (-fsanitize=thread) to memory.cpp.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__ __attribute__((noinline, visibility("hidden")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __shared__ static  // one block runs at a time, on one thread

struct uint3 {
  unsigned x, y, z;
};
struct __align__(8) float2 {
  float x, y;
};
struct __align__(16) float4 {
  float x, y, z, w;
};
struct __align__(8) int2 {
  int x, y;
};
struct __align__(16) int4 {
  int x, y, z, w;
};
struct __align__(8) uint2 {
  unsigned x, y;
};
struct __align__(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

extern "C" {
// Constant within a thread of the kernel, so that the compiler may keep them.
__attribute__((const)) uint3 emulator_thread_index();
__attribute__((const)) uint3 emulator_block_index();
__attribute__((const)) uint3 emulator_block_size();
__attribute__((const)) uint3 emulator_grid_size();
__attribute__((const)) void* emulator_dynamic_shared();

// Fails where a wide access would not be aligned; the compiler may split it.
void emulator_require_aligned(const void* address, int bytes);

void emulator_sync_threads();
void emulator_sync_warp();
// The value that another lane of the warp gave; all lanes that still run take part.
uint64_t emulator_shuffle(uint64_t value, int lane);
unsigned emulator_ballot(int predicate);
int emulator_lane();

void emulator_copy_async(void* shared, const void* global, int bytes, int zeros);
void emulator_copy_commit();
void emulator_copy_wait(int pending);
void emulator_load_matrix(uint32_t* registers, const void* row, int matrices, int transposed);
void emulator_mma_bf16(float* c, const uint32_t* a, const uint32_t* b);

int emulator_atomic_add_int(int* address, int value);
unsigned long long emulator_atomic_add_long(unsigned long long* address, unsigned long long value);
int emulator_atomic_max_int(int* address, int value);
int emulator_atomic_or_int(int* address, int value);
}

#define threadIdx (emulator_thread_index())
#define blockIdx (emulator_block_index())
#define blockDim (emulator_block_size())
#define gridDim (emulator_grid_size())

inline void __syncthreads() { emulator_sync_threads(); }
inline void __syncwarp(unsigned = 0xffffffffu) { emulator_sync_warp(); }

template <class T>
inline T emulator_shuffle_of(T value, int lane) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = emulator_shuffle(bits, lane);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
inline T __shfl_sync(unsigned, T value, int lane, int width = 32) {
  int own = emulator_lane();
  return emulator_shuffle_of(value, (own & ~(width - 1)) | (lane & (width - 1)));
}
template <class T>
inline T __shfl_xor_sync(unsigned, T value, int mask, int width = 32) {
  int own = emulator_lane(), other = own ^ mask;
  return emulator_shuffle_of(value, (other & ~(width - 1)) > (own | (width - 1)) ? own : other);
}
template <class T>
inline T __shfl_down_sync(unsigned, T value, unsigned delta, int width = 32) {
  int own = emulator_lane();
  bool inside = (own & (width - 1)) + static_cast<int>(delta) < width;
  return emulator_shuffle_of(value, inside ? own + static_cast<int>(delta) : own);
}
template <class T>
inline T __shfl_up_sync(unsigned, T value, unsigned delta, int width = 32) {
  int own = emulator_lane();
  bool inside = (own & (width - 1)) >= static_cast<int>(delta);
  return emulator_shuffle_of(value, inside ? own - static_cast<int>(delta) : own);
}
inline unsigned __ballot_sync(unsigned, int predicate) { return emulator_ballot(predicate); }
inline int __any_sync(unsigned, int predicate) { return emulator_ballot(predicate) != 0; }
inline int __all_sync(unsigned, int predicate) { return emulator_ballot(!predicate) == 0; }

// Integers only: sums of floats would depend on the order in which threads arrive.
inline int atomicAdd(int* address, int value) { return emulator_atomic_add_int(address, value); }
inline unsigned long long atomicAdd(unsigned long long* address, unsigned long long value) {
  return emulator_atomic_add_long(address, value);
}
inline int atomicMax(int* address, int value) { return emulator_atomic_max_int(address, value); }
inline int atomicOr(int* address, int value) { return emulator_atomic_or_int(address, value); }

inline float __int_as_float(int bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}
inline int __float_as_int(float value) {
  int bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
inline float __uint_as_float(unsigned bits) { return __int_as_float(static_cast<int>(bits)); }
inline unsigned __float_as_uint(float value) { return static_cast<unsigned>(__float_as_int(value)); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
template <class T>
inline T __ldg(const T* address) {
  return *address;
}
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
