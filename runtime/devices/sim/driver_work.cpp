//===- driver_work.cpp - Launches, copies and fills of the look-alike -----===//
#include "runtime/devices/sim/driver_state.h"
#include "runtime/devices/sim/recording.h"
#include "runtime/devices/sim/work_log.h"

namespace ampc::runtime::sim {

using cuda::Result;

static constexpr size_t paramAlignment = 16;

cuda::StreamState *DriverState::find(cuda::Stream stream) {
  // CU_STREAM_LEGACY is 1.
  if (!stream || stream == reinterpret_cast<cuda::Stream>(1)) {
    return &defaultStream;
  }
  for (cuda::StreamState *known : streams) {
    if (known == stream) {
      return known;
    }
  }
  return nullptr;
}

LaunchSet DriverState::before(const cuda::StreamState &stream) const {
  LaunchSet set;
  set.add(hostDone);
  set.add(stream.done);
  if (&stream == &defaultStream) {
    for (const cuda::StreamState *other : streams) {
      if (other->blocking) {
        set.add(other->done);
      }
    }
  } else if (stream.blocking) {
    set.add(defaultStream.done);
  }
  return set;
}

Result DriverState::outcome() {
  if (sticky != cuda::success || report.clean()) {
    return sticky;
  }
  switch (report.findings()[0].fault) {
  case Fault::outOfBounds:
    sticky = cuda::illegalAddress;
    break;
  case Fault::misaligned:
    sticky = cuda::misalignedAddress;
    break;
  default:
    sticky = cuda::launchFailed;
  }
  return sticky;
}

Result DriverState::wait(const LaunchSet &done) {
  hostDone.add(done);
  return outcome();
}

Result DriverState::enqueue(const Work &work, cuda::Stream handle) {
  cuda::StreamState *stream = find(handle);
  if (!stream) {
    return cuda::invalidHandle;
  }
  LaunchSet after = before(*stream);
  stream->done.add(after);
  return run(work, after, &stream->done);
}

Result DriverState::makeKernel(Work *work, cuda::Function function, Dim3 grid,
                               Dim3 block, unsigned shared, void **params,
                               void **extra) {
  bool known = false;
  for (cuda::FunctionState *other : functions) {
    known |= other == function;
  }
  if (!known) {
    return cuda::invalidHandle;
  }
  const ampc_sim_kernel &kernel = *function->kernel;
  if (extra || (kernel.num_params && !params)) {
    return extra ? cuda::notSupported : cuda::invalidValue;
  }
  if (shared > function->maxDynamicShared) {
    return cuda::invalidValue; // more than cuFuncSetAttribute allowed
  }
  work->kind = Work::kernel;
  work->function = function;
  work->grid = grid;
  work->block = block;
  work->dynamicShared = shared;
  for (uint32_t i = 0; i < kernel.num_params; ++i) {
    size_t at = work->params.size();
    uint64_t padded;
    if (!params[i] ||
        !alignUp(kernel.params[i].bytes, paramAlignment, &padded)) {
      return cuda::invalidValue;
    }
    work->params.resize(at + padded);
    memcpy(work->params.data() + at, params[i], kernel.params[i].bytes);
  }
  return cuda::success;
}

cuda::Memcpy3D linearCopy(cuda::MemoryType toType, void *to,
                          cuda::MemoryType fromType, const void *from,
                          size_t count) {
  cuda::Memcpy3D copy{};
  copy.srcMemoryType = fromType;
  copy.srcHost = from;
  copy.srcDevice = reinterpret_cast<cuda::DevicePointer>(from);
  copy.dstMemoryType = toType;
  copy.dstHost = to;
  copy.dstDevice = reinterpret_cast<cuda::DevicePointer>(to);
  copy.WidthInBytes = count;
  copy.Height = copy.Depth = 1;
  return copy;
}

namespace {

/// One row of a copy or fill, as the work of launch `id`.
class Transfer {
public:
  Transfer(DriverState &state, const char *name, uint32_t id, bool settled)
      : state(state), name(name), id(id), settled(settled) {}

  Result checkDevice(const void *address, size_t bytes) {
    return state.memory.contains(address, bytes) ? cuda::success
                                                 : cuda::invalidValue;
  }
  void read(const void *from, size_t bytes, bool toHost) {
    if (state.options.checks) {
      state.memory.transfer(from, bytes, false, id, settled, state.report);
    }
    uint64_t missing =
        state.options.checks ? state.memory.unwritten(from, bytes) : 0;
    if (missing && toHost) {
      Place place;
      place.kernel = name;
      Str where = state.memory.describe(reinterpret_cast<uint64_t>(from));
      state.report.add(Fault::uninitialized, place, nullptr, nullptr,
                       "the host reads %llu bytes from %s, of which %llu were "
                       "never written",
                       static_cast<unsigned long long>(bytes), where.c_str(),
                       static_cast<unsigned long long>(missing));
    }
  }
  void write(void *to, size_t bytes) {
    if (state.options.checks) {
      state.memory.transfer(to, bytes, true, id, settled, state.report);
    }
  }

private:
  DriverState &state;
  const char *name;
  uint32_t id;
  bool settled;
};

bool isDevice(cuda::MemoryType type) { return type != cuda::hostMemory; }

/// The address of a row of one side of a copy.
uint8_t *rowOf(cuda::MemoryType type, const void *host,
               cuda::DevicePointer device, size_t x, size_t y, size_t z,
               size_t pitch, size_t height) {
  auto base = isDevice(type) ? static_cast<uint64_t>(device)
                             : reinterpret_cast<uint64_t>(host);
  return reinterpret_cast<uint8_t *>(base + x + (y + z * height) * pitch);
}

Result copyRows(DriverState &state, const cuda::Memcpy3D &copy, uint32_t id,
                bool settled) {
  bool fromDevice = isDevice(copy.srcMemoryType);
  bool toDevice = isDevice(copy.dstMemoryType);
  const char *name = !fromDevice ? "copy from the host"
                     : toDevice  ? "copy"
                                 : "copy to the host";
  Transfer transfer(state, name, id, settled);
  size_t bytes = copy.WidthInBytes;
  for (size_t i = 0; i < copy.Depth * copy.Height; ++i) {
    size_t y = i % copy.Height, z = i / copy.Height;
    uint8_t *from = rowOf(copy.srcMemoryType, copy.srcHost, copy.srcDevice,
                          copy.srcXInBytes, copy.srcY + y, copy.srcZ + z,
                          copy.srcPitch, copy.srcHeight);
    uint8_t *to = rowOf(copy.dstMemoryType, copy.dstHost, copy.dstDevice,
                        copy.dstXInBytes, copy.dstY + y, copy.dstZ + z,
                        copy.dstPitch, copy.dstHeight);
    if ((fromDevice && transfer.checkDevice(from, bytes)) ||
        (toDevice && transfer.checkDevice(to, bytes))) {
      return cuda::invalidValue;
    }
    if (fromDevice) {
      transfer.read(from, bytes, !toDevice);
    }
    if (toDevice) {
      transfer.write(to, bytes);
    }
    memmove(to, from, bytes);
    if (fromDevice && toDevice && state.options.checks) {
      state.memory.copyWritten(to, from, bytes);
    }
  }
  return cuda::success;
}

Result fillRows(DriverState &state, const cuda::MemsetNodeParams &fill,
                uint32_t id) {
  Transfer transfer(state, "fill", id, false);
  if (fill.elementSize != 1 && fill.elementSize != 2 && fill.elementSize != 4) {
    return cuda::invalidValue;
  }
  for (size_t row = 0; row < fill.height; ++row) {
    auto *to = reinterpret_cast<uint8_t *>(fill.dst + row * fill.pitch);
    size_t bytes = fill.width * fill.elementSize;
    if (fill.dst % fill.elementSize || transfer.checkDevice(to, bytes)) {
      return cuda::invalidValue;
    }
    transfer.write(to, bytes);
    for (size_t i = 0; i < bytes; i += fill.elementSize) {
      memcpy(to + i, &fill.value, fill.elementSize);
    }
  }
  return cuda::success;
}

} // namespace

Result DriverState::run(const Work &work, const LaunchSet &after,
                        LaunchSet *done) {
  if (work.kind == Work::empty) {
    return cuda::success;
  }
  if (options.log) {
    options.log->add(work);
  }
  if (work.kind != Work::kernel) {
    uint32_t id = memory.beginLaunch(
        work.kind == Work::copy ? "a copy" : "a fill", nullptr, after);
    done->add(id);
    report.setLabel(work.label);
    Result result = work.kind == Work::copy
                        ? copyRows(*this, work.memcpy3D, id, work.hostWaits)
                        : fillRows(*this, work.memset, id);
    report.setLabel(nullptr);
    return result;
  }
  const cuda::FunctionState &function = *work.function;
  LaunchConfig config;
  config.module = function.module;
  config.kernel = function.kernel;
  config.grid = work.grid;
  config.block = work.block;
  config.dynamicShared = work.dynamicShared;
  Vec<void *> params;
  size_t at = 0;
  for (uint32_t i = 0; i < function.kernel->num_params; ++i) {
    params.push(const_cast<uint8_t *>(work.params.data()) + at);
    uint64_t bytes = function.kernel->params[i].bytes;
    at += (bytes + paramAlignment - 1) / paramAlignment * paramAlignment;
  }
  config.params = params.data();
  config.launchId =
      memory.beginLaunch(function.kernel->name, function.module, after);
  done->add(config.launchId);
  report.setLabel(work.label);
  Recording *recording = options.recording;
  if (recording) {
    recording->begin(config, work.label, options.arch, memory);
  }
  Status status = runKernel(config, options, memory, report);
  if (recording) {
    recording->end(memory);
    if (!recording->status().ok()) {
      report.setLabel(nullptr);
      return cuda::launchFailed;
    }
  }
  report.setLabel(nullptr);
  if (status.ok()) {
    return cuda::success;
  }
  return status.code() == AMPC_LIMIT ? cuda::launchOutOfResources
                                     : cuda::invalidValue;
}

} // namespace ampc::runtime::sim
