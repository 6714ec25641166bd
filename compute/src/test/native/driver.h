// What the parts of the emulated driver know of each other: its state, and the work on streams.
#pragma once
#include "emulator.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#define CALL extern "C" __attribute__((visibility("default"))) CUresult

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;

namespace emulator {

struct Library {
  Span statics;
  Span constants;
};

struct Known {
  Kernel kernel;
  Library library;
};

struct Stream {
  int device;
  std::deque<std::function<Result()>> work;
};

struct Event {
  int device = 0;
  Stream* stream = nullptr;
  uint64_t recorded = 0;
  uint64_t completed = 0;
  std::chrono::steady_clock::time_point time;
  bool timed = true;
};

struct Module {
  int device = 0;
  Image image;
  std::map<std::string, std::unique_ptr<struct Function>> functions;
};

struct Function {
  Known known;
  int device;
  size_t dynamicShared = 48 << 10;
};

struct Context {
  int device;
  int references = 0;
};

constexpr size_t MOST_SHARED = 99 << 10;  // of the smallest device among those supported

SHARED extern std::recursive_mutex mutex;  // of everything below
extern std::map<std::string, Known> kernels;
extern std::map<int, Context> contexts;
extern std::set<Stream*> streams;
extern std::set<Event*> events;
extern std::set<Module*> modules;
extern std::map<char*, size_t> pinned;
extern std::map<CUdeviceptr, std::pair<size_t, int>> memory;  // size and device
extern Result broken;  // of the first work that failed; every call answers with it from then on
extern int64_t launched;
extern std::set<std::pair<int, int>> reachable;  // which device's copies go straight to and from which other's memory
SHARED extern int64_t libraryHandles;  // of cuBLAS
SHARED Context*& current();  // of the calling thread

using Lock = std::lock_guard<std::recursive_mutex>;

// Refuses what is not wholly within an allocation of the device.
Result onDevice(int device, CUdeviceptr address, size_t bytes, const char* what);

// Notes work on a stream; it is done when somebody waits for it, unless Settings::order says otherwise.
SHARED Result enqueue(Stream* stream, std::function<Result()> work);
void drainAll();

}  // namespace emulator

// Every call but the first few needs a context, and none goes on after a kernel has failed.
#define NEEDS_CONTEXT                                                                    \
  Lock lock(mutex);                                                                      \
  if (current() == nullptr) return refuse(INVALID_CONTEXT, "%s without a context", __func__); \
  if (broken != SUCCESS) return broken
