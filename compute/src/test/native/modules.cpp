// Modules, their functions, and launches of what they hold: kernels come from libraries that the host's
// compiler made, their names and parameters are compared with those of the module.
#include "driver.h"

#include <dlfcn.h>
#include <link.h>

namespace emulator {
namespace {

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
  if (streams.count(stream) != 0 && (stream->device != current()->device || function->device != stream->device)) {
    return refuse(INVALID_HANDLE, "kernel %s of GPU %d on a stream of GPU %d in the context of GPU %d", kernel.name,
                  function->device, stream->device, current()->device);
  }
  Launch launch{&function->known.kernel, function->device, grid, block, shared, {}};
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

}  // namespace

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

}  // namespace emulator

using namespace emulator;

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
  own->device = current()->device;
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
    own = std::make_unique<Function>(Function{known->second, module->device});
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
