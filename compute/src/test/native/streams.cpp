// Streams and events. Work on a stream is only noted; it runs when somebody waits for it (or at once, or
// at random: Settings::order), so that whoever does not wait sees memory that nobody has written yet.
#include "driver.h"

namespace emulator {
namespace {

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

}  // namespace

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

}  // namespace emulator

using namespace emulator;

CALL cuStreamCreate(void** stream, unsigned flags) {
  NEEDS_CONTEXT;
  if (flags != 1) {
    return refuse(NOT_SUPPORTED, "a stream that waits for the default stream");
  }
  auto* own = new Stream{current()->device, {}};
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
  own->device = current()->device;
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
  if (streams.count(static_cast<Stream*>(stream)) != 0 && static_cast<Stream*>(stream)->device != event->device) {
    return refuse(INVALID_HANDLE, "an event of GPU %d is recorded on a stream of GPU %d", event->device,
                  static_cast<Stream*>(stream)->device);
  }
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
