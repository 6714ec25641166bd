// How a library of kernels tells the emulator what it holds. The build writes, for every .cu file,
//   #include "elementwise.cu"
//   #include "kernel_library.h"
//   EMULATOR_KERNELS(EMULATOR_KERNEL(add), …)
#pragma once
#include <cstddef>
#include <utility>

namespace emulator {

struct Kernel {
  const char* name;
  void (*call)(void* const* arguments);
  int parameters;
  const size_t* sizes;
};

template <auto F>
struct Caller;

template <class... A, void (*F)(A...)>
struct Caller<F> {
  static constexpr size_t sizes[] = {sizeof(A)...};

  template <size_t... I>
  __attribute__((no_sanitize("thread"))) static void spread(void* const* arguments,
                                                            std::index_sequence<I...>) {
    F(*static_cast<std::remove_const_t<A>*>(arguments[I])...);
  }
  static void call(void* const* arguments) { spread(arguments, std::index_sequence_for<A...>{}); }
  static constexpr Kernel kernel(const char* name) { return {name, &call, sizeof...(A), sizes}; }
};

}  // namespace emulator

#define EMULATOR_KERNEL(name) emulator::Caller<&name>::kernel(#name)
#define EMULATOR_KERNELS(...)                                                       \
  extern "C" __attribute__((visibility("default"))) const emulator::Kernel*        \
  emulator_kernels(int* count) {                                                    \
    static const emulator::Kernel kernels[] = {__VA_ARGS__};                        \
    *count = sizeof kernels / sizeof *kernels;                                      \
    return kernels;                                                                 \
  }
