// Allocations on the device, pinned memory of the host, and copies between them.
#include "driver.h"

#include <cstdlib>
#include <cstring>

namespace emulator {

int deviceOf(const void* address) {
  auto after = memory.upper_bound(reinterpret_cast<CUdeviceptr>(address));
  if (after == memory.begin()) {
    return -1;
  }
  auto [begin, piece] = *std::prev(after);
  return reinterpret_cast<CUdeviceptr>(address) < begin + piece.first ? piece.second : -1;
}

Result onDevice(int device, CUdeviceptr address, size_t bytes, const char* what) {
  auto* at = reinterpret_cast<void*>(address);
  if (!isAllocated(at, bytes)) {
    return refuse(INVALID_VALUE, "%s of %zu bytes at %s", what, bytes, describe(at).c_str());
  }
  if (deviceOf(at) != device) {
    return refuse(INVALID_VALUE, "%s %d, but %s is of GPU %d", what, device, describe(at).c_str(), deviceOf(at));
  }
  return SUCCESS;
}

namespace {

int deviceOf(void* stream) {
  return streams.count(static_cast<Stream*>(stream)) == 0 ? -1 : static_cast<Stream*>(stream)->device;
}

bool isPinned(const void* address, size_t bytes) {
  auto after = pinned.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (after == pinned.begin()) {
    return false;
  }
  auto piece = std::prev(after);
  return static_cast<const char*>(address) + bytes <= piece->first + piece->second;
}

Result toDevice(int device, CUdeviceptr to, const void* from, size_t bytes) {
  Result result = onDevice(device, to, bytes, "copy to the device");
  if (result == SUCCESS) {
    memcpy(reinterpret_cast<void*>(to), from, bytes);
    markWritten(reinterpret_cast<void*>(to), bytes);
  }
  return result;
}

Result toHost(int device, void* to, CUdeviceptr from, size_t bytes) {
  Result result = onDevice(device, from, bytes, "copy from the device");
  if (result != SUCCESS) {
    return result;
  }
  if (const void* gap = firstUnwritten(reinterpret_cast<void*>(from), bytes)) {
    return refuse(LAUNCH_FAILED, "copy from the device reads %s, which was never written",
                  describe(gap).c_str());
  }
  memcpy(to, reinterpret_cast<void*>(from), bytes);
  return SUCCESS;
}

Result withinDevice(int device, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Result result = onDevice(device, to, bytes, "copy to the device");
  if (result == SUCCESS) {
    result = onDevice(device, from, bytes, "copy from the device");
  }
  if (result == SUCCESS) {
    memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    copyState(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  }
  return result;
}

template <class T>
Result fill(int device, CUdeviceptr to, T value, size_t count) {
  Result result = onDevice(device, to, count * sizeof(T), "fill");
  if (result == SUCCESS) {
    for (size_t i = 0; i < count; i++) {
      reinterpret_cast<T*>(to)[i] = value;
    }
    markWritten(reinterpret_cast<void*>(to), count * sizeof(T));
  }
  return result;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

CALL cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  NEEDS_CONTEXT;
  if (bytes == 0) {
    return refuse(INVALID_VALUE, "an allocation of nothing");
  }
  size_t used = 0;
  for (auto& [begin, piece] : memory) {
    used += piece.second == current()->device ? piece.first : 0;
  }
  int64_t& until = settings().allocationsUntilFailure;
  if (used + bytes > settings().memory || (until >= 0 && until-- == 0)) {
    return refuse(OUT_OF_MEMORY, "%zu bytes of %zu are in use", used, settings().memory);
  }
  void* piece = allocate(bytes);
  if (piece == nullptr) {
    return refuse(OUT_OF_MEMORY, "the emulator's range is exhausted");
  }
  *address = reinterpret_cast<CUdeviceptr>(piece);
  memory[*address] = {bytes, current()->device};
  return SUCCESS;
}
CALL cuMemFree_v2(CUdeviceptr address) {
  Lock lock(mutex);
  if (current() == nullptr) {
    return refuse(INVALID_CONTEXT, "cuMemFree without a context");
  }
  drainAll();
  if (memory.erase(address) == 0) {
    return refuse(INVALID_VALUE, "freed: %s", describe(reinterpret_cast<void*>(address)).c_str());
  }
  release(reinterpret_cast<void*>(address));
  return SUCCESS;
}
CALL cuMemGetInfo_v2(size_t* free, size_t* total) {
  Lock lock(mutex);
  size_t used = 0;
  for (auto& [begin, piece] : memory) {
    used += piece.second == current()->device ? piece.first : 0;
  }
  *total = settings().memory;
  *free = *total - used;
  return SUCCESS;
}
CALL cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  NEEDS_CONTEXT;
  *address = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (*address == nullptr) {
    return OUT_OF_MEMORY;
  }
  memset(*address, 0xff, bytes);
  pinned[static_cast<char*>(*address)] = bytes;
  return SUCCESS;
}
CALL cuMemFreeHost(void* address) {
  Lock lock(mutex);
  drainAll();
  if (pinned.erase(static_cast<char*>(address)) == 0) {
    return refuse(INVALID_VALUE, "memory that is not pinned is freed");
  }
  free(address);
  return SUCCESS;
}

CALL cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, void* stream) {
  NEEDS_CONTEXT;
  if (!isPinned(from, bytes)) {
    return refuse(INVALID_VALUE, "an asynchronous copy from memory that is not pinned");
  }
  int device = deviceOf(stream);
  Result result = onDevice(device, to, bytes, "copy to the device");
  return result != SUCCESS ? result : enqueue(static_cast<Stream*>(stream), [=] { return toDevice(device, to, from, bytes); });
}
CALL cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* stream) {
  NEEDS_CONTEXT;
  if (!isPinned(to, bytes)) {
    return refuse(INVALID_VALUE, "an asynchronous copy to memory that is not pinned");
  }
  int device = deviceOf(stream);
  Result result = onDevice(device, from, bytes, "copy from the device");
  return result != SUCCESS ? result : enqueue(static_cast<Stream*>(stream), [=] { return toHost(device, to, from, bytes); });
}
CALL cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  NEEDS_CONTEXT;
  int device = deviceOf(stream);
  return enqueue(static_cast<Stream*>(stream), [=] { return withinDevice(device, to, from, bytes); });
}
CALL cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void* stream) {
  NEEDS_CONTEXT;
  int device = deviceOf(stream);
  return enqueue(static_cast<Stream*>(stream), [=] { return fill(device, to, value, count); });
}
CALL cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void* stream) {
  NEEDS_CONTEXT;
  int device = deviceOf(stream);
  return enqueue(static_cast<Stream*>(stream), [=] { return fill(device, to, value, count); });
}
