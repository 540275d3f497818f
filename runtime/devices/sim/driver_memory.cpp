//===- driver_memory.cpp - Allocations, copies and fills ----------------===//
#include "runtime/devices/sim/driver_state.h"

namespace ampc::runtime::sim::entry {
namespace {

Result copy(const Memcpy3D &what, Stream stream, bool waits) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  Work work;
  work.kind = Work::copy;
  work.memcpy3D = what;
  work.hostWaits = waits;
  if (Result error = driver->enqueue(work, stream)) {
    return error;
  }
  return waits ? driver->wait(driver->find(stream)->done) : success;
}

Result fill(DevicePointer to, unsigned value, unsigned elementSize,
            size_t count, Stream stream) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  Work work;
  work.kind = Work::fill;
  work.memset = {to, 0, value, elementSize, count, 1};
  return driver->enqueue(work, stream);
}

} // namespace

Result memGetInfo(size_t *free, size_t *total) {
  DriverLock driver;
  *total = deviceBytes;
  *free = deviceBytes - driver->memory.bytesInUse();
  return driver.check();
}

Result memAlloc(DevicePointer *out, size_t bytes) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  void *memory = nullptr;
  if (bytes > deviceBytes - driver->memory.bytesInUse()) {
    return outOfMemory;
  }
  Status status = driver->memory.allocate(bytes, nullptr, &memory);
  *out = reinterpret_cast<DevicePointer>(memory);
  if (!status.ok()) {
    return status.code() == AMPC_LIMIT ? outOfMemory : invalidValue;
  }
  return success;
}

Result memFree(DevicePointer address) {
  DriverLock driver;
  if (address == 0) {
    return success;
  }
  // Freeing waits for all work.
  Result error = ctxSynchronize();
  Status status = driver->memory.release(pointerOf(address));
  if (error) {
    return error;
  }
  if (!status.ok()) {
    return status.code() == AMPC_USAGE ? invalidValue : illegalAddress;
  }
  return success;
}

Result memAllocHost(void **out, size_t bytes) {
  return bytes && posix_memalign(out, 4096, bytes) == 0 ? success : outOfMemory;
}

Result memFreeHost(void *memory) {
  free(memory);
  return success;
}

Result memcpyHtoD(DevicePointer to, const void *from, size_t bytes) {
  return copy(linearCopy(deviceMemory, pointerOf(to), hostMemory, from, bytes),
              nullptr, true);
}
Result memcpyDtoH(void *to, DevicePointer from, size_t bytes) {
  return copy(linearCopy(hostMemory, to, deviceMemory, pointerOf(from), bytes),
              nullptr, true);
}
Result memcpyDtoD(DevicePointer to, DevicePointer from, size_t bytes) {
  return copy(linearCopy(deviceMemory, pointerOf(to), deviceMemory,
                         pointerOf(from), bytes),
              nullptr, false);
}
Result memcpyHtoDAsync(DevicePointer to, const void *from, size_t bytes,
                       Stream stream) {
  return copy(linearCopy(deviceMemory, pointerOf(to), hostMemory, from, bytes),
              stream, false);
}
Result memcpyDtoHAsync(void *to, DevicePointer from, size_t bytes,
                       Stream stream) {
  return copy(linearCopy(hostMemory, to, deviceMemory, pointerOf(from), bytes),
              stream, false);
}
Result memcpyDtoDAsync(DevicePointer to, DevicePointer from, size_t bytes,
                       Stream stream) {
  return copy(linearCopy(deviceMemory, pointerOf(to), deviceMemory,
                         pointerOf(from), bytes),
              stream, false);
}

Result memsetD8(DevicePointer to, unsigned char value, size_t count) {
  return fill(to, value, 1, count, nullptr);
}
Result memsetD32(DevicePointer to, unsigned value, size_t count) {
  return fill(to, value, 4, count, nullptr);
}
Result memsetD8Async(DevicePointer to, unsigned char value, size_t count,
                     Stream stream) {
  return fill(to, value, 1, count, stream);
}
Result memsetD32Async(DevicePointer to, unsigned value, size_t count,
                      Stream stream) {
  return fill(to, value, 4, count, stream);
}

} // namespace ampc::runtime::sim::entry
