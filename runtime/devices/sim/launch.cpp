//===- launch.cpp - All blocks of a launch, over the host's threads -------===//
#include "runtime/devices/sim/block.h"

namespace ampc::runtime::sim {

uint32_t maxSharedBytes(uint32_t arch) {
  switch (arch) {
  case 75:
    return 64 * 1024;
  case 80:
  case 87:
    return 163 * 1024;
  case 86:
  case 89:
  case 120:
    return 99 * 1024;
  default:
    return arch >= 90 ? 227 * 1024 : 48 * 1024;
  }
}

static Status checkConfig(const LaunchConfig &config, const Options &options) {
  const ampc_sim_kernel &kernel = *config.kernel;
  const Dim3 &block = config.block, &grid = config.grid;
  if (block.count() == 0 || grid.count() == 0 || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || block.count() > 1024 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    return Status::error(
        AMPC_USAGE, "kernel %s cannot have %u x %u x %u blocks of %u x %u x %u",
        kernel.name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
  }
  const uint32_t sizes[] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    if (kernel.required_block[i] && kernel.required_block[i] != sizes[i]) {
      return Status::error(AMPC_USAGE,
                           "kernel %s requires blocks of %u x %u x %u, got "
                           "%u x %u x %u",
                           kernel.name, kernel.required_block[0],
                           kernel.required_block[1], kernel.required_block[2],
                           block.x, block.y, block.z);
    }
  }
  if (kernel.max_threads && block.count() > kernel.max_threads) {
    return Status::error(
        AMPC_USAGE, "kernel %s takes %u threads a block at most, got %u",
        kernel.name, kernel.max_threads, static_cast<uint32_t>(block.count()));
  }
  uint64_t shared = kernel.static_shared;
  if (config.dynamicShared) {
    shared = static_cast<uint64_t>(kernel.dynamic_shared_offset) +
             config.dynamicShared;
  }
  // The gaps between variables are the simulator's own.
  uint64_t used = config.dynamicShared;
  for (uint32_t i = 0; i < kernel.num_variables; ++i) {
    used += kernel.variables[i].bytes;
  }
  if (used > maxSharedBytes(options.arch) || shared > Block::windowBytes) {
    return Status::error(AMPC_USAGE,
                         "kernel %s uses %llu bytes of shared memory, sm_%u "
                         "has %u",
                         kernel.name, static_cast<unsigned long long>(used),
                         options.arch, maxSharedBytes(options.arch));
  }
  return Status();
}

namespace {

/// The launch's own copy of the parameters, readable by kernels that take the
/// address of one.
class Parameters {
public:
  Parameters(const LaunchConfig &config, GlobalMemory &memory)
      : memory(memory) {
    const ampc_sim_kernel &kernel = *config.kernel;
    constexpr uint64_t lineBytes = 128; // of a tensor map, and its alignment
    uint64_t total = 0;
    for (uint32_t i = 0; i < kernel.num_params; ++i) {
      total += (kernel.params[i].bytes + lineBytes - 1) / lineBytes * lineBytes;
    }
    if (total == 0 || posix_memalign(&copy, lineBytes, total) != 0) {
      return;
    }
    uint64_t offset = 0;
    for (uint32_t i = 0; i < kernel.num_params; ++i) {
      uint32_t bytes = kernel.params[i].bytes;
      auto *to = static_cast<uint8_t *>(copy) + offset;
      memcpy(to, config.params[i], bytes);
      pointers.push(to);
      offset += (bytes + lineBytes - 1) / lineBytes * lineBytes;
    }
    memory.adopt(copy, total, "the kernel's parameters", false);
  }
  ~Parameters() {
    if (copy) {
      memory.disown(copy);
      free(copy);
    }
  }
  void **data() { return pointers.data(); }

private:
  GlobalMemory &memory;
  void *copy = nullptr;
  Vec<void *> pointers;
};

struct Worker {
  LaunchState *state;
  const Vec<uint32_t> *order;
  Status status;
  pthread_t handle;
};

} // namespace

static void *work(void *argument) {
  auto &worker = *static_cast<Worker *>(argument);
  LaunchState &state = *worker.state;
  uint64_t count = state.config.grid.count();
  auto *block = new (allocateSmall(sizeof(Block))) Block();
  worker.status = block->allocate(&state);
  while (worker.status.ok() && !state.stopped.load()) {
    uint64_t next = state.nextBlock.fetch_add(1);
    if (next >= count) {
      break;
    }
    block->run(worker.order->empty() ? next : (*worker.order)[next]);
  }
  block->release();
  block->~Block();
  free(block);
  return nullptr;
}

void registerGlobals(const ampc_sim_module &module, GlobalMemory &memory) {
  for (uint32_t i = 0; i < module.num_globals; ++i) {
    const ampc_sim_global &global = module.globals[i];
    memory.adopt(global.address, global.bytes, global.name, global.writable);
  }
}

void unregisterGlobals(const ampc_sim_module &module, GlobalMemory &memory) {
  for (uint32_t i = 0; i < module.num_globals; ++i) {
    memory.disown(module.globals[i].address);
  }
  memory.forgetModule(&module);
}

Status runKernel(const LaunchConfig &config, const Options &options,
                 GlobalMemory &memory, Report &report) {
  AMPC_TRY(checkConfig(config, options));
  LaunchState state{};
  Parameters parameters(config, memory);
  state.config = config;
  state.config.params = parameters.data();
  state.options = &options;
  state.memory = &memory;
  state.report = &report;
  uint64_t count = config.grid.count();
  Vec<uint32_t> order;
  if (options.shuffleBlocks && count < (1u << 28)) {
    order.resize(count);
    uint64_t random = options.seed;
    for (uint32_t i = 0; i < count; ++i) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      uint32_t other = static_cast<uint32_t>(random >> 33) % (i + 1);
      order[i] = order[other];
      order[other] = i;
    }
  }
  uint32_t threads = options.hostThreads ? options.hostThreads : 1;
  threads = threads < count ? threads : static_cast<uint32_t>(count);
  Vec<Worker> workers;
  workers.resize(threads);
  uint32_t started = 1;
  for (Worker &worker : workers) {
    worker.state = &state;
    worker.order = &order;
  }
  while (started < threads && pthread_create(&workers[started].handle, nullptr,
                                             work, &workers[started]) == 0) {
    ++started;
  }
  work(&workers[0]);
  for (uint32_t i = 1; i < started; ++i) {
    pthread_join(workers[i].handle, nullptr);
  }
  memory.endLaunch();
  for (Worker &worker : workers) {
    if (!worker.status.ok()) {
      return std::move(worker.status);
    }
  }
  return Status();
}

} // namespace ampc::runtime::sim
