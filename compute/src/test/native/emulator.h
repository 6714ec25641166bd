// What the parts of the emulator know of each other.
#pragma once
#include "kernel_library.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What the emulated libraries beside the driver use of it.
#define SHARED __attribute__((visibility("default")))

namespace emulator {

enum Result : int {  // CUresult
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  PEER_ACCESS_UNSUPPORTED = 217,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_OUT_OF_RESOURCES = 701,
  PEER_ACCESS_ALREADY_ENABLED = 704,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
};

struct Extent {
  unsigned x, y, z;
  size_t count() const { return static_cast<size_t>(x) * y * z; }
};

struct Launch {
  const Kernel* kernel;
  int device;
  Extent grid;
  Extent block;
  size_t dynamicShared;
  std::vector<std::vector<char>> arguments;
};

// What went wrong last, in words; cuGetErrorString adds it to the name of the error.
std::string& trouble();
SHARED Result refuse(Result result, const char* format, ...) __attribute__((format(printf, 2, 3)));

// ---- memory.cpp: device memory, and the judgement of every access of a kernel ----
void* allocate(size_t bytes);
bool release(void* address);
SHARED bool isAllocated(const void* address, size_t bytes);
SHARED void markWritten(void* address, size_t bytes);
// Where the first byte that nobody wrote lies, or null.
SHARED const void* firstUnwritten(const void* address, size_t bytes);
void copyState(void* to, const void* from, size_t bytes);
SHARED std::string describe(const void* address);
size_t bytesAllocated();
size_t allocations();

struct Span {
  const char* begin;
  const char* end;
  bool holds(const void* address, size_t bytes) const {
    auto* at = static_cast<const char*>(address);
    return at >= begin && at + bytes <= end;
  }
};
// Memory that the running kernel may touch: that of its device, and this beside it.
void beginLaunch(int device, Span stacks, Span statics, Span constants);
void beginBlock(Span dynamicShared);
enum class Access { READ, WRITE, ATOMIC };
void access(const void* address, size_t bytes, Access kind);
void checkRaces(bool on);

// ---- fibers.cpp: blocks and threads; device_calls.cpp: what they call ----
// Runs a launch to its end; LAUNCH_FAILED or ILLEGAL_ADDRESS with trouble() otherwise.
Result run(const Launch& launch, Span statics, Span constants);
void seed(uint64_t seed);
uint64_t random();
// Ends the running kernel; does not return when a kernel runs.
void fail(Result result, const char* format, ...) __attribute__((format(printf, 2, 3)));
// "kernel add, block (1,0,0), thread (5,0,0)"
std::string place();

// Where the running thread stands, for the judgement of accesses. A barrier ends an epoch of the block.
struct Moment {
  uint32_t epoch;
  uint16_t thread;
  uint16_t warpEpoch;
};
Moment now();
bool isRunning();

// ---- image.cpp: what a PTX text or a cubin says of its kernels ----
struct Entry {
  std::string name;
  std::vector<size_t> parameters;  // bytes each
};
struct Image {
  std::vector<Entry> entries;
  int architecture;  // 80 for sm_80
  bool binary;
  int ptxVersion;  // 70 for 7.0
};
// False, with trouble(), when it is neither.
bool read(const void* bytes, Image& image);

// ---- driver.cpp, and what else driver.h names ----
struct Settings {
  int devices = 0;  // none, until a test asks for some
  int capability = 80;
  size_t memory = size_t(2) << 30;
  int driver = 12000;
  int ptxVersion = 80;
  int order = 0;  // of streams: 0 as late as possible, 1 at once, 2 at random
  int64_t allocationsUntilFailure = -1;
  bool library = true;  // whether cuBLAS starts
  bool peers = true;  // whether devices can reach each other's memory
};
SHARED Settings& settings();
bool addKernels(const char* library);
enum Live : int { MEMORY, PINNED, STREAMS, EVENTS, MODULES, CONTEXTS, HANDLES, LIVES };
int64_t live(int kind);
int64_t launches();
// Of the device that an allocation holding this address belongs to; -1 if there is none.
int deviceOf(const void* address);
// Copies from one device to another: straight, or by way of the host.
int64_t copiesBetweenDevices(bool straight);

}  // namespace emulator
