// The calls of the CUDA driver that Draftmill makes, over the emulator. Work on a stream is only noted;
// it runs when somebody waits for it (or at once, or at random: Settings::order), so that whoever does
// not wait sees memory that nobody has written yet.
#include "emulator.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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
namespace {

struct Library {
  Span statics;
  Span constants;
};

struct Known {
  Kernel kernel;
  Library library;
};

struct Event;

struct Stream {
  std::deque<std::function<Result()>> work;
};

struct Event {
  Stream* stream = nullptr;
  uint64_t recorded = 0;
  uint64_t completed = 0;
  std::chrono::steady_clock::time_point time;
  bool timed = true;
};

struct Module {
  Image image;
  std::map<std::string, std::unique_ptr<struct Function>> functions;
};

struct Function {
  Known known;
  size_t dynamicShared = 48 << 10;
};

struct Context {
  int device;
  int references = 0;
};

constexpr size_t MOST_SHARED = 99 << 10;  // of the smallest device among those supported

std::recursive_mutex mutex;
std::map<std::string, Known> kernels;
std::map<int, Context> contexts;
std::set<Stream*> streams;
std::set<Event*> events;
std::set<Module*> modules;
std::map<char*, size_t> pinned;
std::map<CUdeviceptr, std::pair<size_t, int>> memory;  // size and device
thread_local Context* current = nullptr;
Result broken = SUCCESS;
int64_t launched = 0;

using Lock = std::lock_guard<std::recursive_mutex>;

Result runNext(Stream* stream) {
  auto work = std::move(stream->work.front());
  stream->work.pop_front();
  Result result = broken == SUCCESS ? work() : broken;
  if (result != SUCCESS) {
    broken = result;
  }
  return result;
}

Result drain(Stream* stream) {
  while (!stream->work.empty()) {
    runNext(stream);
  }
  return broken;
}

Result reach(Event* event, uint64_t record) {
  while (event->completed < record && event->stream != nullptr && !event->stream->work.empty()) {
    runNext(event->stream);
  }
  return broken;
}

void drainAll() {
  for (Stream* stream : streams) {
    drain(stream);
  }
}

Result enqueue(Stream* stream, std::function<Result()> work) {
  if (streams.count(stream) == 0) {
    return refuse(INVALID_HANDLE, "no such stream: the emulator wants one of the program's own");
  }
  stream->work.push_back(std::move(work));
  if (settings().order == 1) {
    drainAll();
  } else if (settings().order == 2) {
    for (Stream* some : streams) {
      for (uint64_t n = random() % 3; n > 0 && !some->work.empty(); n--) {
        runNext(some);
      }
    }
  }
  return broken;
}

Result onDevice(CUdeviceptr address, size_t bytes, const char* what) {
  if (!isAllocated(reinterpret_cast<void*>(address), bytes)) {
    return refuse(INVALID_VALUE, "%s of %zu bytes at %s", what, bytes,
                  describe(reinterpret_cast<void*>(address)).c_str());
  }
  return SUCCESS;
}

bool isPinned(const void* address, size_t bytes) {
  auto after = pinned.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (after == pinned.begin()) {
    return false;
  }
  auto piece = std::prev(after);
  return static_cast<const char*>(address) + bytes <= piece->first + piece->second;
}

Result toDevice(CUdeviceptr to, const void* from, size_t bytes) {
  Result result = onDevice(to, bytes, "copy to the device");
  if (result == SUCCESS) {
    memcpy(reinterpret_cast<void*>(to), from, bytes);
    markWritten(reinterpret_cast<void*>(to), bytes);
  }
  return result;
}

Result toHost(void* to, CUdeviceptr from, size_t bytes) {
  Result result = onDevice(from, bytes, "copy from the device");
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

Result withinDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Result result = onDevice(to, bytes, "copy to the device");
  if (result == SUCCESS) {
    result = onDevice(from, bytes, "copy from the device");
  }
  if (result == SUCCESS) {
    memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    copyState(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  }
  return result;
}

template <class T>
Result fill(CUdeviceptr to, T value, size_t count) {
  Result result = onDevice(to, count * sizeof(T), "fill");
  if (result == SUCCESS) {
    for (size_t i = 0; i < count; i++) {
      reinterpret_cast<T*>(to)[i] = value;
    }
    markWritten(reinterpret_cast<void*>(to), count * sizeof(T));
  }
  return result;
}

Result launch(Function* function, Extent grid, Extent block, size_t shared, Stream* stream,
              void** parameters, void** extra) {
  const Kernel& kernel = function->known.kernel;
  if (grid.count() == 0 || block.count() == 0 || block.count() > 1024 || block.z > 64 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return refuse(INVALID_VALUE, "kernel %s cannot run on a grid of (%u,%u,%u) blocks of (%u,%u,%u)",
                  kernel.name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
  }
  if (shared > function->dynamicShared) {
    return refuse(INVALID_VALUE, "kernel %s asks for %zu bytes of shared memory, allowed are %zu",
                  kernel.name, shared, function->dynamicShared);
  }
  Launch launch{&function->known.kernel, grid, block, shared, {}};
  const char* packed = nullptr;
  size_t bytes = 0, offset = 0;
  for (void** at = extra; at != nullptr && *at != nullptr; at += 2) {
    if (reinterpret_cast<uintptr_t>(*at) == 1) {
      packed = static_cast<const char*>(at[1]);
    } else if (reinterpret_cast<uintptr_t>(*at) == 2) {
      bytes = *static_cast<size_t*>(at[1]);
    }
  }
  for (int i = 0; i < kernel.parameters; i++) {
    size_t size = kernel.sizes[i];
    offset = (offset + size - 1) / size * size;
    const char* from = packed != nullptr ? packed + offset : static_cast<char*>(parameters[i]);
    if (packed != nullptr && offset + size > bytes) {
      break;
    }
    launch.arguments.emplace_back(from, from + size);
    offset += size;
  }
  if (packed != nullptr && (offset != bytes || launch.arguments.size() != static_cast<size_t>(kernel.parameters))) {
    return refuse(INVALID_VALUE, "kernel %s takes %d parameters, and got %zu bytes that do not match",
                  kernel.name, kernel.parameters, bytes);
  }
  launched++;
  Library library = function->known.library;
  return enqueue(stream, [launch = std::move(launch), library] {
    return run(launch, library.statics, library.constants);
  });
}

bool isDevice(CUdevice device) { return device >= 0 && device < settings().devices; }

Library spans(void* inside) {
  struct Search {
    uintptr_t address;
    Library found;
  } search{reinterpret_cast<uintptr_t>(inside), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* search = static_cast<Search*>(data);
        Library library{};
        bool own = false;
        for (int i = 0; i < info->dlpi_phnum; i++) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) {
            continue;
          }
          auto* begin = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
          Span span{begin, begin + header.p_memsz};
          own |= span.holds(reinterpret_cast<void*>(search->address), 1);
          if ((header.p_flags & PF_W) != 0) {
            library.statics = span;
          } else if ((header.p_flags & PF_X) == 0) {
            library.constants = span;  // the last of them holds the constants
          }
        }
        if (own) {
          search->found = library;
        }
        return own ? 1 : 0;
      },
      &search);
  return search.found;
}

const char* name(int result) {
  switch (result) {
    case SUCCESS: return "CUDA_SUCCESS";
    case INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case NOT_INITIALIZED: return "CUDA_ERROR_NOT_INITIALIZED";
    case NO_DEVICE: return "CUDA_ERROR_NO_DEVICE";
    case INVALID_DEVICE: return "CUDA_ERROR_INVALID_DEVICE";
    case INVALID_IMAGE: return "CUDA_ERROR_INVALID_IMAGE";
    case INVALID_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    case NO_BINARY_FOR_GPU: return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case INVALID_PTX: return "CUDA_ERROR_INVALID_PTX";
    case INVALID_HANDLE: return "CUDA_ERROR_INVALID_HANDLE";
    case NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case NOT_READY: return "CUDA_ERROR_NOT_READY";
    case ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case LAUNCH_OUT_OF_RESOURCES: return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    case LAUNCH_FAILED: return "CUDA_ERROR_LAUNCH_FAILED";
    case NOT_SUPPORTED: return "CUDA_ERROR_NOT_SUPPORTED";
    default: return nullptr;
  }
}

}  // namespace

namespace {

// A program that knows nothing of the emulator says by its environment what it wants of it.
Settings fromEnvironment() {
  Settings settings;
  if (const char* devices = getenv("CUDA_EMULATOR_DEVICES")) {
    settings.devices = atoi(devices);
  }
  if (const char* checked = getenv("CUDA_EMULATOR_RACES")) {
    checkRaces(atoi(checked) != 0);
  }
  return settings;
}

bool addKernelsOfEnvironment() {
  const char* folder = getenv("CUDA_EMULATOR_KERNELS");
  DIR* entries = folder == nullptr ? nullptr : opendir(folder);
  if (entries == nullptr) {
    return false;
  }
  while (const dirent* entry = readdir(entries)) {
    std::string name = entry->d_name;
    if (name.size() > 3 && name.substr(name.size() - 3) == ".so" && !addKernels((std::string(folder) + "/" + name).c_str())) {
      fprintf(stderr, "%s\n", trouble().c_str());
    }
  }
  closedir(entries);
  return true;
}

}  // namespace

Settings& settings() {
  static Settings settings = fromEnvironment();
  return settings;
}

std::string& trouble() {
  static std::string text;
  return text;
}

Result refuse(Result result, const char* format, ...) {
  char text[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  trouble() = text;
  return result;
}

bool addKernels(const char* path) {
  Lock lock(mutex);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    trouble() = dlerror();
    return false;
  }
  auto* list = reinterpret_cast<const Kernel* (*)(int*)>(dlsym(handle, "emulator_kernels"));
  if (list == nullptr) {
    trouble() = dlerror();
    return false;
  }
  int count = 0;
  const Kernel* first = list(&count);
  Library library = spans(reinterpret_cast<void*>(list));
  for (int i = 0; i < count; i++) {
    kernels[first[i].name] = {first[i], library};
  }
  return true;
}

int64_t live(int kind) {
  Lock lock(mutex);
  int64_t held = 0;
  for (auto& [device, context] : contexts) {
    held += context.references;
  }
  const int64_t counts[LIVES] = {static_cast<int64_t>(memory.size()), static_cast<int64_t>(pinned.size()),
                                 static_cast<int64_t>(streams.size()), static_cast<int64_t>(events.size()),
                                 static_cast<int64_t>(modules.size()), held};
  return counts[kind];
}

int64_t launches() { return launched; }

}  // namespace emulator

using namespace emulator;

// Every call but the first few needs a context, and none goes on after a kernel has failed.
#define NEEDS_CONTEXT                                                                    \
  Lock lock(mutex);                                                                      \
  if (current == nullptr) return refuse(INVALID_CONTEXT, "%s without a context", __func__); \
  if (broken != SUCCESS) return broken

CALL cuInit(unsigned) {
  static const bool added = addKernelsOfEnvironment();
  (void)added;
  return settings().devices == 0 ? NO_DEVICE : SUCCESS;
}
CALL cuDriverGetVersion(int* version) {
  *version = settings().driver;
  return SUCCESS;
}
CALL cuGetErrorName(CUresult result, const char** text) {
  *text = name(result);
  return *text == nullptr ? INVALID_VALUE : SUCCESS;
}
CALL cuGetErrorString(CUresult result, const char** text) {
  Lock lock(mutex);
  *text = result == SUCCESS ? "no error" : trouble().empty() ? "emulated" : trouble().c_str();
  return SUCCESS;
}

CALL cuDeviceGetCount(int* count) {
  *count = settings().devices;
  return SUCCESS;
}
CALL cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return isDevice(ordinal) ? SUCCESS : refuse(INVALID_DEVICE, "no device %d", ordinal);
}
CALL cuDeviceGetName(char* text, int length, CUdevice device) {
  snprintf(text, length, "Emulated GPU %d", device);
  return SUCCESS;
}
CALL cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = settings().memory;
  return SUCCESS;
}
CALL cuDeviceGetAttribute(int* value, int attribute, CUdevice) {
  switch (attribute) {
    case 1: *value = 1024; break;             // threads of a block
    case 8: *value = 48 << 10; break;         // shared memory of a block
    case 10: *value = 32; break;              // lanes of a warp
    case 16: *value = 2; break;               // multiprocessors
    case 75: *value = settings().capability / 10; break;
    case 76: *value = settings().capability % 10; break;
    case 97: *value = static_cast<int>(MOST_SHARED); break;
    default: return refuse(INVALID_VALUE, "attribute %d is not known to the emulator", attribute);
  }
  return SUCCESS;
}

CALL cuDevicePrimaryCtxRetain(void** context, CUdevice device) {
  Lock lock(mutex);
  if (!isDevice(device)) {
    return refuse(INVALID_DEVICE, "no device %d", device);
  }
  Context& own = contexts[device];
  own.device = device;
  own.references++;
  *context = &own;
  return SUCCESS;
}
CALL cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Lock lock(mutex);
  Context& own = contexts[device];
  if (own.references == 0) {
    return refuse(INVALID_CONTEXT, "the context of device %d is released twice", device);
  }
  if (--own.references == 0) {
    bool others = false;
    for (auto& [number, context] : contexts) {
      others |= context.references > 0;
    }
    if (!others) {
      broken = SUCCESS;
    }
  }
  return SUCCESS;
}
CALL cuCtxSetCurrent(void* context) {
  current = static_cast<Context*>(context);
  return SUCCESS;
}
CALL cuCtxGetCurrent(void** context) {
  *context = current;
  return SUCCESS;
}
CALL cuCtxSynchronize() {
  NEEDS_CONTEXT;
  drainAll();
  return broken;
}

CALL cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  NEEDS_CONTEXT;
  if (bytes == 0) {
    return refuse(INVALID_VALUE, "an allocation of nothing");
  }
  size_t used = 0;
  for (auto& [begin, piece] : memory) {
    used += piece.second == current->device ? piece.first : 0;
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
  memory[*address] = {bytes, current->device};
  return SUCCESS;
}
CALL cuMemFree_v2(CUdeviceptr address) {
  Lock lock(mutex);
  if (current == nullptr) {
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
    used += piece.second == current->device ? piece.first : 0;
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
  Result result = onDevice(to, bytes, "copy to the device");
  return result != SUCCESS ? result : enqueue(static_cast<Stream*>(stream), [=] { return toDevice(to, from, bytes); });
}
CALL cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* stream) {
  NEEDS_CONTEXT;
  if (!isPinned(to, bytes)) {
    return refuse(INVALID_VALUE, "an asynchronous copy to memory that is not pinned");
  }
  Result result = onDevice(from, bytes, "copy from the device");
  return result != SUCCESS ? result : enqueue(static_cast<Stream*>(stream), [=] { return toHost(to, from, bytes); });
}
CALL cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  NEEDS_CONTEXT;
  return enqueue(static_cast<Stream*>(stream), [=] { return withinDevice(to, from, bytes); });
}
CALL cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void* stream) {
  NEEDS_CONTEXT;
  return enqueue(static_cast<Stream*>(stream), [=] { return fill(to, value, count); });
}
CALL cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void* stream) {
  NEEDS_CONTEXT;
  return enqueue(static_cast<Stream*>(stream), [=] { return fill(to, value, count); });
}

CALL cuModuleLoadData(void** module, const void* bytes) {
  NEEDS_CONTEXT;
  auto own = std::make_unique<Module>();
  if (!emulator::read(bytes, own->image)) {
    return INVALID_IMAGE;
  }
  int capability = settings().capability, architecture = own->image.architecture;
  if (own->image.binary ? architecture / 10 != capability / 10 || architecture > capability
                        : architecture > capability) {
    return refuse(NO_BINARY_FOR_GPU, "an image for sm_%d on a device of sm_%d", architecture, capability);
  }
  if (!own->image.binary && own->image.ptxVersion > settings().ptxVersion) {
    return refuse(INVALID_PTX, "PTX %d.%d is newer than the driver", own->image.ptxVersion / 10,
                  own->image.ptxVersion % 10);
  }
  *module = own.get();
  modules.insert(own.release());
  return SUCCESS;
}
CALL cuModuleUnload(void* module) {
  Lock lock(mutex);
  if (modules.erase(static_cast<Module*>(module)) == 0) {
    return refuse(INVALID_HANDLE, "a module is unloaded twice");
  }
  delete static_cast<Module*>(module);
  return SUCCESS;
}
CALL cuModuleGetFunction(void** function, void* handle, const char* text) {
  NEEDS_CONTEXT;
  auto* module = static_cast<Module*>(handle);
  const Entry* entry = nullptr;
  for (const Entry& candidate : module->image.entries) {
    entry = candidate.name == text ? &candidate : entry;
  }
  auto known = kernels.find(text);
  if (entry == nullptr || known == kernels.end()) {
    return refuse(NOT_FOUND, "kernel %s is not in %s", text,
                  entry == nullptr ? "the module" : "the emulator's libraries: its source is newer or older than the module");
  }
  const Kernel& kernel = known->second.kernel;
  bool same = entry->parameters.size() == static_cast<size_t>(kernel.parameters);
  for (int i = 0; same && i < kernel.parameters; i++) {
    same = entry->parameters[i] == kernel.sizes[i];
  }
  if (!same) {
    return refuse(INVALID_IMAGE, "kernel %s has other parameters in the module than in its source: compile the kernels again", text);
  }
  auto& own = module->functions[text];
  if (own == nullptr) {
    own = std::make_unique<Function>(Function{known->second});
  }
  *function = own.get();
  return SUCCESS;
}
CALL cuFuncSetAttribute(void* function, int attribute, int value) {
  NEEDS_CONTEXT;
  if (attribute != 8 || value < 0 || static_cast<size_t>(value) > MOST_SHARED) {
    return refuse(INVALID_VALUE, "attribute %d of a function cannot be %d", attribute, value);
  }
  static_cast<Function*>(function)->dynamicShared = value;
  return SUCCESS;
}
CALL cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                    unsigned blockY, unsigned blockZ, unsigned shared, void* stream,
                    void** parameters, void** extra) {
  NEEDS_CONTEXT;
  return launch(static_cast<Function*>(function), {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                shared, static_cast<Stream*>(stream), parameters, extra);
}

CALL cuStreamCreate(void** stream, unsigned flags) {
  NEEDS_CONTEXT;
  if (flags != 1) {
    return refuse(NOT_SUPPORTED, "a stream that waits for the default stream");
  }
  auto* own = new Stream;
  streams.insert(own);
  *stream = own;
  return SUCCESS;
}
CALL cuStreamDestroy_v2(void* handle) {
  Lock lock(mutex);
  auto* stream = static_cast<Stream*>(handle);
  if (streams.count(stream) == 0) {
    return refuse(INVALID_HANDLE, "a stream is destroyed twice");
  }
  drain(stream);
  for (Event* event : events) {
    event->stream = event->stream == stream ? nullptr : event->stream;
  }
  streams.erase(stream);
  delete stream;
  return SUCCESS;
}
CALL cuStreamSynchronize(void* stream) {
  NEEDS_CONTEXT;
  return drain(static_cast<Stream*>(stream));
}
CALL cuStreamWaitEvent(void* stream, void* handle, unsigned) {
  NEEDS_CONTEXT;
  auto* event = static_cast<Event*>(handle);
  uint64_t record = event->recorded;
  return enqueue(static_cast<Stream*>(stream), [=] { return reach(event, record); });
}

CALL cuEventCreate(void** event, unsigned flags) {
  NEEDS_CONTEXT;
  auto* own = new Event;
  own->timed = (flags & 2) == 0;
  events.insert(own);
  *event = own;
  return SUCCESS;
}
CALL cuEventDestroy_v2(void* handle) {
  Lock lock(mutex);
  auto* event = static_cast<Event*>(handle);
  if (events.count(event) == 0) {
    return refuse(INVALID_HANDLE, "an event is destroyed twice");
  }
  reach(event, event->recorded);
  events.erase(event);
  delete event;
  return SUCCESS;
}
CALL cuEventRecord(void* handle, void* stream) {
  NEEDS_CONTEXT;
  auto* event = static_cast<Event*>(handle);
  uint64_t record = ++event->recorded;
  event->stream = static_cast<Stream*>(stream);
  return enqueue(event->stream, [=] {
    event->completed = record;
    event->time = std::chrono::steady_clock::now();
    return SUCCESS;
  });
}
CALL cuEventSynchronize(void* handle) {
  NEEDS_CONTEXT;
  auto* event = static_cast<Event*>(handle);
  return reach(event, event->recorded);
}
CALL cuEventQuery(void* handle) {
  NEEDS_CONTEXT;
  auto* event = static_cast<Event*>(handle);
  return event->completed >= event->recorded ? SUCCESS : NOT_READY;
}
CALL cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  NEEDS_CONTEXT;
  auto *from = static_cast<Event*>(begin), *to = static_cast<Event*>(end);
  if (!from->timed || !to->timed) {
    return refuse(INVALID_HANDLE, "an event without timing is asked for its time");
  }
  if (from->completed < from->recorded || to->completed < to->recorded) {
    return NOT_READY;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return SUCCESS;
}
