//===- cpu_device.cpp - The CPU as a device -------------------------------===//
#include "runtime/core/cpu_features.h"
#include "runtime/devices/cpu/thread_pool.h"
#include "runtime/devices/device.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

/// Control word of the vector unit: rounding to nearest even, subnormals kept,
/// no traps. Kernels rely on it, whatever the host application has set.
struct FloatEnvironment {
#if defined(__x86_64__)
  static constexpr uint32_t standard = 0x1f80;
  static uint32_t get() { return __builtin_ia32_stmxcsr(); }
  static void set(uint32_t word) { __builtin_ia32_ldmxcsr(word); }
#else
  static constexpr uint32_t standard = 0;
  static uint32_t get() { return 0; }
  static void set(uint32_t) {}
#endif
};

struct CpuDevice {
  ThreadPool *pool = nullptr;
  char *scratch = nullptr;    // numThreads slices
  uint64_t scratchStride = 0; // bytes from one slice to the next; 0: none
  uint64_t scratchTotal = 0;
  bool poisonScratch = false;
  uint32_t callerFloatEnvironment = 0;
};

CpuDevice &cpu(Device *device) {
  return *reinterpret_cast<CpuDevice *>(device);
}

/// Zeroed pages with AMPC_OVERREAD readable bytes after `bytes`.
Status mapPages(uint64_t bytes, void **outMemory) {
  uint64_t padded;
  if (addOverflow<uint64_t>(bytes, AMPC_OVERREAD, &padded) ||
      padded > static_cast<uint64_t>(INT64_MAX)) {
    return Status::error(AMPC_LIMIT, "cannot allocate %llu bytes",
                         static_cast<unsigned long long>(bytes));
  }
  void *memory = mmap(nullptr, padded, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Status::error(AMPC_LIMIT, "cannot allocate %llu bytes: %s",
                         static_cast<unsigned long long>(bytes),
                         strerror(errno));
  }
  constexpr uint64_t hugePage = 2u << 20;
  if (padded >= hugePage) {
    madvise(memory, padded, MADV_HUGEPAGE); // a hint; refusal is harmless
  }
  *outMemory = memory;
  return Status();
}

void unmapPages(void *memory, uint64_t bytes) {
  if (memory) {
    munmap(memory, bytes + AMPC_OVERREAD);
  }
}

void destroy(Device *device) {
  if (!device) {
    return;
  }
  CpuDevice &self = cpu(device);
  ThreadPool::destroy(self.pool);
  unmapPages(self.scratch, self.scratchTotal);
  free(device);
}

Status create(const DeviceOptions &options, Device **outDevice) {
  AMPC_TRY(checkCpuFeatures(options.cpuFeatures, detectCpuFeatures()));
  AMPC_TRY(enableCpuFeatures(options.cpuFeatures));
  uint32_t threads = options.numThreads;
  if (threads == 0) {
    uint32_t cpus = availableCpus();
    threads = cpus < ThreadPool::maxThreads ? cpus : ThreadPool::maxThreads;
  }
  if (threads > ThreadPool::maxThreads) {
    return Status::error(AMPC_USAGE, "expected at most %u threads, got %u",
                         ThreadPool::maxThreads, threads);
  }
  auto *self = new (allocateSmall(sizeof(CpuDevice))) CpuDevice();
  auto *device = reinterpret_cast<Device *>(self);
  self->poisonScratch = options.poisonScratch;
  Status status = ThreadPool::create(threads, &self->pool);
  if (status.ok() && options.scratchBytes) {
    // The overread of one slice may touch the next, which only reads.
    void *memory = nullptr;
    if (!alignUp(options.scratchBytes, AMPC_ALIGNMENT, &self->scratchStride) ||
        mulOverflow<uint64_t>(self->scratchStride, threads,
                              &self->scratchTotal)) {
      status = Status::error(AMPC_LIMIT, "cannot allocate scratch memory");
    } else {
      status = mapPages(self->scratchTotal, &memory);
    }
    self->scratch = static_cast<char *>(memory);
  }
  if (!status.ok()) {
    destroy(device);
    return status;
  }
  *outDevice = device;
  return Status();
}

uint32_t numThreads(const Device *device) {
  return reinterpret_cast<const CpuDevice *>(device)->pool->numThreads();
}

Status allocate(Device *, uint64_t bytes, void **outMemory) {
  return mapPages(bytes, outMemory);
}

void release(Device *, void *memory, uint64_t bytes) {
  unmapPages(memory, bytes);
}

void beginRun(Device *device) {
  CpuDevice &self = cpu(device);
  self.callerFloatEnvironment = FloatEnvironment::get();
  FloatEnvironment::set(FloatEnvironment::standard);
  if (self.poisonScratch && self.scratch) {
    memset(self.scratch, 0xff, self.scratchTotal);
  }
}

Status endRun(Device *device) {
  FloatEnvironment::set(cpu(device).callerFloatEnvironment);
  return Status();
}

/// Splits [0, items) into `chunks` ranges that differ by at most one item.
struct Launch {
  ampc_kernel_fn fn;
  void *const *buffers;
  char *scratch;
  uint64_t scratchStride;
  int64_t perChunk; // items in each chunk, and one more in the first `extra`
  int64_t extra;
};

void runChunk(void *context, int64_t chunk, uint32_t thread) {
  const Launch &launch = *static_cast<const Launch *>(context);
  int64_t begin =
      chunk * launch.perChunk + (chunk < launch.extra ? chunk : launch.extra);
  int64_t end = begin + launch.perChunk + (chunk < launch.extra ? 1 : 0);
  // Workers are born with the caller's control word of that moment.
  if (thread != 0) {
    FloatEnvironment::set(FloatEnvironment::standard);
  }
  char *scratch =
      launch.scratch ? launch.scratch + thread * launch.scratchStride : nullptr;
  launch.fn(launch.buffers, scratch, begin, end);
}

Status launch(Device *device, const ampc_kernel_desc &kernel,
              void *const *buffers) {
  CpuDevice &self = cpu(device);
  if (kernel.items <= 0) {
    return Status();
  }
  // Four chunks a thread even out threads of unequal speed.
  int64_t grain = kernel.grain > 0 ? kernel.grain : 1;
  int64_t chunks = kernel.items / grain;
  int64_t most = static_cast<int64_t>(self.pool->numThreads()) * 4;
  chunks = chunks < 1 ? 1 : chunks > most ? most : chunks;
  char *scratch = kernel.scratch_bytes ? self.scratch : nullptr;
  if (chunks == 1 || self.pool->numThreads() == 1) {
    kernel.fn(buffers, scratch, 0, kernel.items);
    return Status();
  }
  Launch work = {kernel.fn,
                 buffers,
                 scratch,
                 self.scratchStride,
                 kernel.items / chunks,
                 kernel.items % chunks};
  self.pool->parallelFor(runChunk, &work, chunks);
  return Status();
}

struct Copy {
  char *to;
  const char *from;
  uint64_t bytes;
};
/// Large enough that handing it to another thread costs nothing beside it.
constexpr uint64_t copyChunk = 1u << 18;

void copyPart(void *context, int64_t part, uint32_t) {
  const Copy &copy = *static_cast<const Copy *>(context);
  uint64_t offset = static_cast<uint64_t>(part) * copyChunk;
  uint64_t rest = copy.bytes - offset;
  memcpy(copy.to + offset, copy.from + offset,
         rest < copyChunk ? rest : copyChunk);
}

Status copy(Device *device, void *to, const void *from, uint64_t bytes) {
  if (bytes == 0 || to == from) {
    return Status();
  }
  Copy work = {static_cast<char *>(to), static_cast<const char *>(from), bytes};
  int64_t parts = static_cast<int64_t>((bytes - 1) / copyChunk + 1);
  cpu(device).pool->parallelFor(copyPart, &work, parts);
  return Status();
}

Status fill(Device *, void *to, uint8_t value, uint64_t bytes) {
  if (bytes) {
    memset(to, value, bytes);
  }
  return Status();
}

Status transfer(Device *, void *to, const void *from, uint64_t bytes) {
  memcpy(to, from, bytes);
  return Status();
}

} // namespace

const DeviceApi cpuDeviceApi = {
    "cpu",  create, destroy, numThreads, allocate, release,  beginRun,
    endRun, launch, copy,    fill,       transfer, transfer, nullptr,
};

} // namespace ampc::runtime
