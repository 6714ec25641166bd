// Device memory is host memory in one reserved range. Addresses are not used again soon, so that a
// freed one is known as such. For every two bytes stand the last write and two readers: reads of what
// nobody wrote, accesses outside of an allocation, and accesses of two threads without a barrier
// between them all end the kernel with a sentence that says where.
#include "emulator.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

namespace emulator {
namespace {

constexpr size_t RANGE = size_t(24) << 30;
constexpr size_t ALIGNMENT = 512;
constexpr size_t GAP = 512;
constexpr uint16_t HOST = 0xfffe;
constexpr uint16_t ATOMIC_THREADS = 0xffff;

struct Readers {
  Moment first, second;
};

// The history of one range of memory, by pairs of bytes. The kernel gives pages of zeros as they are touched.
struct History {
  Moment* writes = nullptr;
  Readers* reads = nullptr;

  explicit History(size_t bytes)
      : writes(reserve<Moment>(bytes / 2 + 8)), reads(reserve<Readers>(bytes / 2 + 8)) {}

  template <class T>
  static T* reserve(size_t count) {
    void* at = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : static_cast<T*>(at);
  }
};

char* range = nullptr;
History* deviceHistory = nullptr;
size_t next = 0;
size_t inUse = 0;
std::map<char*, size_t> living;
std::map<char*, size_t> freed;

bool races = true;
int device = 0;
Span stacks{}, statics{}, constants{}, dynamic{};
uint32_t launchEpoch = 0, blockEpoch = 0;
History* staticHistory = nullptr;
History* dynamicHistory = nullptr;
std::map<const char*, History*> staticHistories;
constexpr int RECENT = 8;
Span recent[RECENT];  // allocations that the kernel touched last
int oldest = 0;

void open() {
  if (range == nullptr) {
    range = History::reserve<char>(RANGE);
    deviceHistory = new History(RANGE);
  }
}

bool inRange(const void* address) {
  auto* at = static_cast<const char*>(address);
  return range != nullptr && at >= range && at < range + RANGE;
}

template <class T>
void forget(T* values, size_t from, size_t to) {  // whole pages go back to zero, the rest is written
  uintptr_t begin = reinterpret_cast<uintptr_t>(values + from);
  uintptr_t end = reinterpret_cast<uintptr_t>(values + to);
  uintptr_t firstPage = (begin + 4095) & ~uintptr_t(4095), lastPage = end & ~uintptr_t(4095);
  if (firstPage >= lastPage) {
    memset(reinterpret_cast<void*>(begin), 0, end - begin);
    return;
  }
  memset(reinterpret_cast<void*>(begin), 0, firstPage - begin);
  memset(reinterpret_cast<void*>(lastPage), 0, end - lastPage);
  madvise(reinterpret_cast<void*>(firstPage), lastPage - firstPage, MADV_DONTNEED);
}

std::map<char*, size_t>::iterator holder(std::map<char*, size_t>& map, const void* address) {
  auto after = map.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  return after == map.begin() ? map.end() : std::prev(after);
}

bool before(const Moment& then, const Moment& now) {
  if (then.epoch < launchEpoch) {
    return true;
  }
  if (then.epoch < blockEpoch) {
    return false;  // another block of this launch: nothing orders blocks
  }
  return then.epoch < now.epoch || then.thread == now.thread ||
         (then.thread < 1024 && then.thread / 32 == now.thread / 32 && then.warpEpoch < now.warpEpoch);
}

void race(const void* address, const Moment& then, const char* what) {
  fail(LAUNCH_FAILED, "%s %s without a barrier in between (the other was thread %d of %s block)",
       describe(address).c_str(), what, then.thread,
       then.epoch < blockEpoch ? "another" : "the same");
}

void judge(History& history, size_t from, size_t to, const void* address, Access kind, bool shared) {
  Moment now = emulator::now();
  for (size_t i = from; i < to; i++) {
    Moment& write = history.writes[i];
    bool written = shared ? write.epoch >= blockEpoch : write.epoch != 0;
    if (kind != Access::WRITE && !written) {
      fail(LAUNCH_FAILED, "%s is read but was never written", describe(address).c_str());
    }
    if (races) {
      if (written && write.thread != HOST && !before(write, now) &&
          !(kind == Access::ATOMIC && write.thread == ATOMIC_THREADS)) {
        race(address, write, kind == Access::READ ? "is read after a write" : "is written twice");
      }
      Readers& readers = history.reads[i];
      if (kind == Access::READ) {
        (before(readers.first, now) ? readers.first : readers.second) = now;
      } else {
        for (const Moment& reader : {readers.first, readers.second}) {
          bool read = reader.epoch >= (shared ? blockEpoch : 1);
          if (read && !before(reader, now)) {
            race(address, reader, "is written after a read");
          }
        }
      }
    }
    if (kind != Access::READ) {
      write = now;
      if (kind == Access::ATOMIC) {
        write.thread = ATOMIC_THREADS;
      }
    }
  }
}

bool inRecent(const void* address, size_t bytes) {
  for (const Span& span : recent) {
    if (span.holds(address, bytes)) {
      return true;
    }
  }
  return false;
}

void forgetRecent() {
  std::fill(recent, recent + RECENT, Span{});
}

void judgeIn(History& history, Span span, const void* address, size_t bytes, Access kind, bool shared) {
  size_t offset = static_cast<const char*>(address) - span.begin;
  judge(history, offset / 2, (offset + bytes + 1) / 2, address, kind, shared);
}

}  // namespace

void* allocate(size_t bytes) {
  open();
  size_t length = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
  if (length > RANGE) {
    return nullptr;
  }
  for (int wrapped = 0; wrapped < 2;) {
    if (next + length > RANGE) {
      next = 0;
      wrapped++;
      continue;
    }
    char* at = range + next;
    auto after = living.lower_bound(at);
    if (after != living.begin()) {
      auto previous = std::prev(after);
      size_t end = previous->first + previous->second + GAP - range;
      if (end > next) {
        next = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        continue;
      }
    }
    if (after != living.end() && after->first < at + length) {
      next = (after->first + after->second - range + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      continue;
    }
    freed.erase(freed.lower_bound(at), freed.lower_bound(at + length));
    next += length;
    living[at] = bytes;
    inUse += bytes;
    memset(at, 0xff, std::min(bytes, size_t(1) << 16));  // NaN, whatever the type
    return at;
  }
  return nullptr;
}

bool release(void* address) {
  auto found = living.find(static_cast<char*>(address));
  if (found == living.end()) {
    return false;
  }
  size_t from = (found->first - range) / 2, to = from + found->second / 2 + 1;
  forget(range, found->first - range, found->first - range + found->second);
  forget(deviceHistory->writes, from, to);
  forget(deviceHistory->reads, from, to);
  inUse -= found->second;
  freed.insert(*found);
  living.erase(found);
  forgetRecent();
  return true;
}

bool isAllocated(const void* address, size_t bytes) {
  auto found = holder(living, address);
  return found != living.end() &&
         static_cast<const char*>(address) + bytes <= found->first + found->second;
}

void markWritten(void* address, size_t bytes) {
  size_t from = (static_cast<char*>(address) - range) / 2;
  size_t to = (static_cast<char*>(address) - range + bytes + 1) / 2;
  std::fill(deviceHistory->writes + from, deviceHistory->writes + to, Moment{1, HOST, 0});
}

const void* firstUnwritten(const void* address, size_t bytes) {
  size_t offset = static_cast<const char*>(address) - range;
  for (size_t i = offset / 2; i < (offset + bytes + 1) / 2; i++) {
    if (deviceHistory->writes[i].epoch == 0) {
      return range + 2 * i;
    }
  }
  return nullptr;
}

void copyState(void* to, const void* from, size_t bytes) {
  size_t target = (static_cast<char*>(to) - range) / 2;
  size_t source = (static_cast<const char*>(from) - range) / 2;
  for (size_t i = 0; i < (bytes + 1) / 2; i++) {
    deviceHistory->writes[target + i] =
        deviceHistory->writes[source + i].epoch == 0 ? Moment{} : Moment{1, HOST, 0};
  }
}

std::string describe(const void* address) {
  char text[200];
  auto* at = static_cast<char*>(const_cast<void*>(address));
  auto near = [&](std::map<char*, size_t>::iterator piece, const char* state) {
    snprintf(text, sizeof text, "byte %td of %s %zu bytes", at - piece->first, state, piece->second);
    return std::string(text);
  };
  if (statics.holds(at, 1)) {
    snprintf(text, sizeof text, "byte %td of the static shared memory", at - statics.begin);
    return text;
  }
  if (dynamic.holds(at, 1)) {
    snprintf(text, sizeof text, "byte %td of the %td bytes of dynamic shared memory",
             at - dynamic.begin, dynamic.end - dynamic.begin);
    return text;
  }
  if (inRange(at)) {
    auto found = holder(living, at);
    auto gone = holder(freed, at);
    if (gone != freed.end() && at < gone->first + gone->second) {
      return near(gone, "a freed allocation of");
    }
    if (found != living.end()) {
      return near(found, "an allocation of");
    }
  }
  snprintf(text, sizeof text, "address %p, no memory of the device", address);
  return text;
}

size_t bytesAllocated() { return inUse; }
size_t allocations() { return living.size(); }

void beginLaunch(int ownDevice, Span ownStacks, Span ownStatics, Span ownConstants) {
  open();
  device = ownDevice;
  stacks = ownStacks;
  statics = ownStatics;
  constants = ownConstants;
  launchEpoch = now().epoch;
  History*& history = staticHistories[statics.begin];
  if (history == nullptr) {
    history = new History(statics.end - statics.begin);
  }
  staticHistory = history;
  forgetRecent();
}

void beginBlock(Span shared) {
  if (dynamicHistory == nullptr) {
    dynamicHistory = new History(size_t(1) << 20);
  }
  dynamic = shared;
  blockEpoch = now().epoch;
}

void checkRaces(bool on) { races = on; }

void access(const void* address, size_t bytes, Access kind) {
  if (!isRunning() || stacks.holds(address, bytes)) {
    return;
  }
  size_t alignment = std::min<size_t>(bytes & -bytes, 16);
  if ((reinterpret_cast<uintptr_t>(address) & (alignment - 1)) != 0) {
    fail(ILLEGAL_ADDRESS, "%s is not aligned for %zu bytes", describe(address).c_str(), bytes);
  }
  if (statics.holds(address, bytes)) {
    judgeIn(*staticHistory, statics, address, bytes, kind, true);
  } else if (dynamic.holds(address, bytes)) {
    judgeIn(*dynamicHistory, dynamic, address, bytes, kind, true);
  } else if (inRange(address)) {
    if (!inRecent(address, bytes)) {
      auto found = holder(living, address);
      if (found == living.end() ||
          static_cast<const char*>(address) + bytes > found->first + found->second) {
        fail(ILLEGAL_ADDRESS, "%zu bytes are %s at %s", bytes,
             kind == Access::READ ? "read" : "written", describe(address).c_str());
      }
      if (deviceOf(address) != device) {
        fail(ILLEGAL_ADDRESS, "%s is memory of GPU %d, and the kernel runs on GPU %d",
             describe(address).c_str(), deviceOf(address), device);
      }
      recent[oldest++ % RECENT] = {found->first, found->first + found->second};
    }
    judgeIn(*deviceHistory, {range, range + RANGE}, address, bytes, kind, false);
  } else if (kind != Access::READ || !constants.holds(address, bytes)) {
    fail(ILLEGAL_ADDRESS, "%zu bytes are %s at %s", bytes,
         kind == Access::READ ? "read" : "written", describe(address).c_str());
  }
}

}  // namespace emulator

// What the compiler calls before each access.
#pragma GCC visibility push(default)
extern "C" {
#define ACCESSES(bytes)                                                                            \
  void __tsan_read##bytes(void* at) { emulator::access(at, bytes, emulator::Access::READ); }       \
  void __tsan_write##bytes(void* at) { emulator::access(at, bytes, emulator::Access::WRITE); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
#define UNALIGNED(bytes)                                                                           \
  void __tsan_unaligned_read##bytes(void* at) { emulator::access(at, bytes, emulator::Access::READ); } \
  void __tsan_unaligned_write##bytes(void* at) { emulator::access(at, bytes, emulator::Access::WRITE); }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)
void __tsan_read_range(void* at, size_t bytes) { emulator::access(at, bytes, emulator::Access::READ); }
void __tsan_write_range(void* at, size_t bytes) { emulator::access(at, bytes, emulator::Access::WRITE); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __ubsan_handle_out_of_bounds_abort(void*, void* index) {
  emulator::fail(emulator::ILLEGAL_ADDRESS, "index %lld is outside of an array", reinterpret_cast<long long>(index));
}
void __ubsan_handle_shift_out_of_bounds_abort(void*, void*, void* by) {
  emulator::fail(emulator::LAUNCH_FAILED, "shifts by %lld", reinterpret_cast<long long>(by));
}
}
#pragma GCC visibility pop
