//===- driver_stream.cpp - Streams and events ---------------------------===//
#include "runtime/devices/sim/driver_state.h"

#include <time.h>

namespace ampc::runtime::sim::entry {

static uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<uint64_t>(time.tv_nsec);
}

Result streamCreate(Stream *out, unsigned flags) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  *out = make<StreamState>();
  (*out)->blocking = !(flags & streamNonBlocking);
  driver->streams.push(*out);
  return success;
}

Result streamDestroy(Stream stream) {
  DriverLock driver;
  if (!take(driver->streams, stream)) {
    return invalidHandle;
  }
  destroy(stream);
  return success;
}

Result streamSynchronize(Stream handle) {
  DriverLock driver;
  StreamState *stream = driver->find(handle);
  if (!stream) {
    return invalidHandle;
  }
  LaunchSet all = driver->before(*stream);
  return driver->wait(all);
}

Result streamQuery(Stream handle) {
  DriverLock driver;
  return driver->find(handle) ? driver->outcome() : invalidHandle;
}

Result streamWaitEvent(Stream handle, Event event, unsigned) {
  DriverLock driver;
  StreamState *stream = driver->find(handle);
  if (!stream || !event) {
    return invalidHandle;
  }
  stream->done.add(event->done);
  return success;
}

Result eventCreate(Event *out, unsigned flags) {
  DriverLock driver;
  *out = make<EventState>();
  (*out)->timed = !(flags & eventDisableTiming);
  return driver.check();
}

Result eventDestroy(Event event) {
  DriverLock driver;
  destroy(event);
  return event ? success : invalidHandle;
}

Result eventRecord(Event event, Stream handle) {
  DriverLock driver;
  StreamState *stream = driver->find(handle);
  if (!stream || !event) {
    return invalidHandle;
  }
  event->done.clear();
  event->done.add(driver->before(*stream));
  event->nanoseconds = now();
  event->recorded = true;
  return success;
}

Result eventSynchronize(Event event) {
  DriverLock driver;
  return event ? driver->wait(event->done) : invalidHandle;
}

Result eventQuery(Event event) {
  DriverLock driver;
  return event ? driver->outcome() : invalidHandle;
}

Result eventElapsedTime(float *milliseconds, Event from, Event to) {
  DriverLock driver;
  if (!from || !to || !from->timed || !to->timed || !from->recorded ||
      !to->recorded) {
    return invalidHandle;
  }
  auto nanoseconds = static_cast<int64_t>(to->nanoseconds - from->nanoseconds);
  *milliseconds = static_cast<float>(nanoseconds) * 1e-6f;
  return success;
}

} // namespace ampc::runtime::sim::entry
