// PTX behind functions, each with a twin in the emulator.
#pragma once
#include "device.cuh"

// c[16, 8] += a[16, 16] · b[16, 8] on one warp (mma.sync.m16n8k16, bf16 in, fp32 out). With
// g = lane / 4 and q = lane % 4, a lane holds, two values a register:
//   a: rows g, g + 8, g, g + 8 at columns 2q, 2q, 2q + 8, 2q + 8     b: rows 2q, 2q + 8 of column g
//   c: (g, 2q), (g, 2q + 1), (g + 8, 2q), (g + 8, 2q + 1)
__device__ __forceinline__ void mmaBf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#ifdef __CUDACC__
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  emulator_mma_bf16(c, a, b);
#endif
}

// Loads four 8x8 matrices of 16-bit values from shared memory (ldmatrix.x4): lane l gives the address
// of row l % 8 of matrix l / 8, aligned for 16 bytes; register m of a lane gets values 2q and 2q + 1 of
// row g of matrix m.
__device__ __forceinline__ void loadMatrix4(uint32_t (&registers)[4], const void* row) {
#ifdef __CUDACC__
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(at));
#else
  emulator_load_matrix(registers, row, 4, 0);
#endif
}

// The same, each matrix transposed: a lane gets values g of rows 2q and 2q + 1.
__device__ __forceinline__ void loadMatrix4Transposed(uint32_t (&registers)[4], const void* row) {
#ifdef __CUDACC__
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
               : "r"(at));
#else
  emulator_load_matrix(registers, row, 4, 1);
#endif
}

// Begins a copy of 16 bytes from global to shared memory, both aligned; of them the last `zeros`
// (0 or 16, or what is beyond the end) are not read but zeroed. Seen by this thread after copyWait,
// by others after a barrier behind that.
__device__ __forceinline__ void copyAsync16(void* shared, const void* global, int zeros = 0) {
#ifdef __CUDACC__
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(global), "r"(16 - zeros)
               : "memory");
#else
  emulator_copy_async(shared, global, 16, zeros);
#endif
}

// The copies begun since the last commit make a group.
__device__ __forceinline__ void copyCommit() {
#ifdef __CUDACC__
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  emulator_copy_commit();
#endif
}

// Waits until at most the last `Pending` groups are under way.
template <int Pending>
__device__ __forceinline__ void copyWait() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#else
  emulator_copy_wait(Pending);
#endif
}
