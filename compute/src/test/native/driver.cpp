// The calls of the CUDA driver that Draftmill makes, over the emulator: the driver itself, its devices and
// their contexts. copies.cpp, peers.cpp, modules.cpp and streams.cpp hold the others.
#include "driver.h"

#include <dirent.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace emulator {

std::recursive_mutex mutex;
std::map<std::string, Known> kernels;
std::map<int, Context> contexts;
std::set<Stream*> streams;
std::set<Event*> events;
std::set<Module*> modules;
std::map<char*, size_t> pinned;
std::map<CUdeviceptr, std::pair<size_t, int>> memory;  // size and device
Result broken = SUCCESS;
int64_t launched = 0;
int64_t libraryHandles = 0;
std::set<std::pair<int, int>> reachable;

Context*& current() {
  static thread_local Context* current = nullptr;
  return current;
}

namespace {

bool isDevice(CUdevice device) { return device >= 0 && device < settings().devices; }

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
    case PEER_ACCESS_UNSUPPORTED: return "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED";
    case INVALID_PTX: return "CUDA_ERROR_INVALID_PTX";
    case INVALID_HANDLE: return "CUDA_ERROR_INVALID_HANDLE";
    case NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case NOT_READY: return "CUDA_ERROR_NOT_READY";
    case ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case LAUNCH_OUT_OF_RESOURCES: return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
    case PEER_ACCESS_ALREADY_ENABLED: return "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED";
    case LAUNCH_FAILED: return "CUDA_ERROR_LAUNCH_FAILED";
    case NOT_SUPPORTED: return "CUDA_ERROR_NOT_SUPPORTED";
    default: return nullptr;
  }
}

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

int64_t live(int kind) {
  Lock lock(mutex);
  int64_t held = 0;
  for (auto& [device, context] : contexts) {
    held += context.references;
  }
  const int64_t counts[LIVES] = {static_cast<int64_t>(memory.size()), static_cast<int64_t>(pinned.size()),
                                 static_cast<int64_t>(streams.size()), static_cast<int64_t>(events.size()),
                                 static_cast<int64_t>(modules.size()), held, libraryHandles};
  return counts[kind];
}

int64_t launches() { return launched; }

}  // namespace emulator

using namespace emulator;

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
CALL cuDeviceGetName(char* text, int length, CUdevice) {
  snprintf(text, length, "Emulated GPU");
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
    for (auto pair = reachable.begin(); pair != reachable.end();) {
      pair = pair->first == device || pair->second == device ? reachable.erase(pair) : std::next(pair);
    }
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
  current() = static_cast<Context*>(context);
  return SUCCESS;
}
CALL cuCtxGetCurrent(void** context) {
  *context = current();
  return SUCCESS;
}
CALL cuCtxSynchronize() {
  NEEDS_CONTEXT;
  drainAll();
  return broken;
}
