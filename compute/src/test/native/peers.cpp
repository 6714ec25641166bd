// Several devices: whether one reaches the memory of another, and copies between them.
#include "driver.h"

#include <cstring>

namespace emulator {
namespace {

int64_t copies[2] = {0, 0};  // by way of the host, straight

Result between(int target, CUdeviceptr to, int source, CUdeviceptr from, size_t bytes, int device) {
  Result result = onDevice(target, to, bytes, "copy to GPU");
  if (result == SUCCESS) {
    result = onDevice(source, from, bytes, "copy from GPU");
  }
  if (result != SUCCESS) {
    return result;
  }
  if (const void* gap = firstUnwritten(reinterpret_cast<void*>(from), bytes)) {
    return refuse(LAUNCH_FAILED, "copy from GPU %d reads %s, which was never written", source, describe(gap).c_str());
  }
  memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
  markWritten(reinterpret_cast<void*>(to), bytes);
  if (target != source) {
    copies[reachable.count({device, device == target ? source : target})]++;
  }
  return SUCCESS;
}

bool isHeld(const void* context) { return context != nullptr && static_cast<const Context*>(context)->references > 0; }

}  // namespace

int64_t copiesBetweenDevices(bool straight) {
  Lock lock(mutex);
  return copies[straight];
}

}  // namespace emulator

using namespace emulator;

CALL cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  Lock lock(mutex);
  for (CUdevice one : {device, peer}) {
    if (one < 0 || one >= settings().devices) {
      return refuse(INVALID_DEVICE, "no device %d", one);
    }
  }
  *can = settings().peers && device != peer;
  return SUCCESS;
}
CALL cuCtxEnablePeerAccess(void* peer, unsigned flags) {
  NEEDS_CONTEXT;
  if (flags != 0 || !isHeld(peer)) {
    return refuse(flags != 0 ? INVALID_VALUE : INVALID_CONTEXT, "access to a context that nobody holds, or with flags");
  }
  int device = current()->device, other = static_cast<Context*>(peer)->device;
  if (!settings().peers || device == other) {
    return refuse(PEER_ACCESS_UNSUPPORTED, "GPU %d does not reach the memory of GPU %d", device, other);
  }
  return reachable.insert({device, other}).second
             ? SUCCESS
             : refuse(PEER_ACCESS_ALREADY_ENABLED, "GPU %d reaches GPU %d already", device, other);
}
CALL cuMemcpyPeerAsync(CUdeviceptr to, void* toContext, CUdeviceptr from, void* fromContext, size_t bytes, void* handle) {
  NEEDS_CONTEXT;
  auto* stream = static_cast<Stream*>(handle);
  if (!isHeld(toContext) || !isHeld(fromContext)) {
    return refuse(INVALID_CONTEXT, "a copy between contexts that are not both held");
  }
  int target = static_cast<Context*>(toContext)->device, source = static_cast<Context*>(fromContext)->device;
  if (streams.count(stream) != 0 && stream->device != target && stream->device != source) {
    return refuse(INVALID_HANDLE, "a copy between GPU %d and GPU %d on a stream of GPU %d", target, source, stream->device);
  }
  return enqueue(stream, [=] { return between(target, to, source, from, bytes, stream->device); });
}
