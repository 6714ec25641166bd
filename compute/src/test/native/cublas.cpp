// The calls of cuBLAS 12 that Draftmill makes, over the emulated driver: a libcublas.so.12 under the unmodified
// natives of JCublas2. A product is work on a stream like a kernel: it is done when somebody waits for it, and what
// it reads must have been written, what it touches be allocated. As with the library, how a row is summed depends on
// how many rows there are, so that nobody may rely on more than the library promises.
#include "driver.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace emulator;

namespace {

enum Status : int {  // cublasStatus_t
  DONE = 0,
  NOT_STARTED = 1,
  WRONG_VALUE = 7,
  EXECUTION_FAILED = 13,
  NO_SUPPORT = 15,
};

constexpr int VERSION = 120604;
constexpr int BF16 = 14, FP32 = 0;  // cudaDataType
constexpr int COMPUTE_FP32 = 68;    // cublasComputeType_t
constexpr int DEFAULT_ALGORITHM = -1;

struct Handle {
  Stream* stream = nullptr;
  void* workspace = nullptr;
};

int wrong(const char* what) {
  fprintf(stderr, "cuBLAS, emulated: %s\n", what);
  return WRONG_VALUE;
}

// Columns of values, as cuBLAS stores a matrix.
struct Operand {
  const uint16_t* values;
  int stride;
  bool transposed;
  int rows;  // as multiplied
  int columns;

  const uint16_t* at(int row, int column) const {
    return transposed ? values + static_cast<size_t>(row) * stride + column
                      : values + static_cast<size_t>(column) * stride + row;
  }
  int lines() const { return transposed ? rows : columns; }
  int length() const { return transposed ? columns : rows; }
  size_t bytes() const { return (static_cast<size_t>(lines() - 1) * stride + length()) * 2; }

  Result check(const char* name) const {
    if (!isAllocated(values, bytes())) {
      return refuse(ILLEGAL_ADDRESS, "cublasGemmEx: %s of %zu bytes is %s", name, bytes(), describe(values).c_str());
    }
    for (int line = 0; line < lines(); line++) {
      const uint16_t* from = values + static_cast<size_t>(line) * stride;
      if (const void* gap = firstUnwritten(from, static_cast<size_t>(length()) * 2)) {
        return refuse(LAUNCH_FAILED, "cublasGemmEx: %s is read at %s, which was never written", name,
                      describe(gap).c_str());
      }
    }
    return SUCCESS;
  }
};

float wide(uint16_t value) {
  uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

struct Product {
  Operand a, b;
  float* c;
  int stride;
  float alpha, beta;

  Result run() const {
    int m = a.rows, n = b.columns, k = a.columns;
    Result result = a.check("A");
    if (result == SUCCESS) {
      result = b.check("B");
    }
    size_t bytes = (static_cast<size_t>(n - 1) * stride + m) * 4;
    if (result != SUCCESS) {
      return result;
    }
    if (!isAllocated(c, bytes)) {
      return refuse(ILLEGAL_ADDRESS, "cublasGemmEx: C of %zu bytes is %s", bytes, describe(c).c_str());
    }
    int chains = n < 4 ? n : 4;
    for (int column = 0; column < n; column++) {
      float* to = c + static_cast<size_t>(column) * stride;
      if (beta != 0) {
        if (const void* gap = firstUnwritten(to, static_cast<size_t>(m) * 4)) {
          return refuse(LAUNCH_FAILED, "cublasGemmEx: C is read at %s, which was never written", describe(gap).c_str());
        }
      }
      for (int row = 0; row < m; row++) {
        float sums[4] = {};
        for (int i = 0; i < k; i++) {
          sums[i % chains] = std::fma(wide(*a.at(row, i)), wide(*b.at(i, column)), sums[i % chains]);
        }
        float sum = alpha * ((sums[0] + sums[1]) + (sums[2] + sums[3]));
        to[row] = beta == 0 ? sum : std::fma(beta, to[row], sum);
      }
      markWritten(to, static_cast<size_t>(m) * 4);
    }
    return SUCCESS;
  }
};

}  // namespace

#define LIBRARY_CALL extern "C" __attribute__((visibility("default"))) int

LIBRARY_CALL cublasCreate_v2(void** handle) {
  Lock lock(mutex);
  if (current() == nullptr || !settings().library) {
    return NOT_STARTED;
  }
  *handle = new Handle;
  libraryHandles++;
  return DONE;
}
LIBRARY_CALL cublasDestroy_v2(void* handle) {
  Lock lock(mutex);
  if (current() == nullptr) {
    return NOT_STARTED;
  }
  delete static_cast<Handle*>(handle);
  libraryHandles--;
  return DONE;
}
LIBRARY_CALL cublasGetVersion_v2(void*, int* version) {
  *version = VERSION;
  return DONE;
}
LIBRARY_CALL cublasSetStream_v2(void* handle, void* stream) {
  auto* own = static_cast<Handle*>(handle);
  own->stream = static_cast<Stream*>(stream);
  own->workspace = nullptr;  // as the library does
  return DONE;
}
LIBRARY_CALL cublasSetWorkspace_v2(void* handle, void* workspace, size_t bytes) {
  Lock lock(mutex);
  if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0 || !isAllocated(workspace, bytes)) {
    return wrong("a workspace that is not aligned, or not on the device");
  }
  static_cast<Handle*>(handle)->workspace = workspace;
  return DONE;
}
LIBRARY_CALL cublasGemmEx(void* handle, int operationA, int operationB, int m, int n, int k, const void* alpha,
                          const void* a, int typeA, int strideA, const void* b, int typeB, int strideB,
                          const void* beta, void* c, int typeC, int strideC, int computeType, int algorithm) {
  Lock lock(mutex);
  auto* own = static_cast<Handle*>(handle);
  if (typeA != BF16 || typeB != BF16 || typeC != FP32 || computeType != COMPUTE_FP32 || algorithm != DEFAULT_ALGORITHM) {
    return NO_SUPPORT;
  }
  if (current() == nullptr || own->stream == nullptr || own->workspace == nullptr) {
    return wrong("a product without a context, a stream or a workspace of the program's own");
  }
  if (m < 0 || n < 0 || k < 0 || operationA > 1 || operationB > 1) {
    return wrong("a product of no such size");
  }
  if (m == 0 || n == 0) {
    return DONE;
  }
  Product product{{static_cast<const uint16_t*>(a), strideA, operationA == 1, m, k},
                  {static_cast<const uint16_t*>(b), strideB, operationB == 1, k, n},
                  static_cast<float*>(c),
                  strideC,
                  *static_cast<const float*>(alpha),
                  *static_cast<const float*>(beta)};
  if (strideA < product.a.length() || strideB < product.b.length() || strideC < m) {
    return wrong("columns that lie closer than they are long");
  }
  return enqueue(own->stream, [product] { return product.run(); }) == SUCCESS ? DONE : EXECUTION_FAILED;
}
