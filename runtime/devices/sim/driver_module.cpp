//===- driver_module.cpp - Modules, functions, launches -----------------===//
#include "runtime/devices/sim/driver_state.h"
#include "runtime/devices/sim/tensor_map.h"

namespace ampc::runtime::sim::entry {

/// Bytes of the kernel's own shared memory, without gaps.
static uint32_t sharedBytesOf(const ampc_sim_kernel &kernel) {
  uint32_t bytes = 0;
  for (uint32_t i = 0; i < kernel.num_variables; ++i) {
    bytes += kernel.variables[i].bytes;
  }
  return bytes;
}

Result moduleLoadData(Module *out, const void *image) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  const auto *module = static_cast<const ampc_sim_module *>(image);
  if (!out || !module || module->magic != AMPC_SIM_MAGIC ||
      module->version != AMPC_SIM_ABI_VERSION) {
    return out && module ? invalidImage : invalidValue;
  }
  // Code for sm_90 is for sm_90a, which no other chip runs.
  uint32_t arch = driver->options.arch;
  if (module->arch > arch || (module->arch == 90 && arch != 90)) {
    return noBinaryForGpu;
  }
  auto *loaded = make<ModuleState>();
  loaded->module = module;
  driver->modules.push(loaded);
  registerGlobals(*module, driver->memory);
  *out = loaded;
  return success;
}

Result moduleLoadDataEx(Module *out, const void *image, unsigned, int *,
                        void **) {
  return moduleLoadData(out, image); // options are those of the JIT
}

Result moduleUnload(Module module) {
  DriverLock driver;
  if (!take(driver->modules, module)) {
    return invalidHandle;
  }
  bool loadedAgain = false; // its functions then serve the other, too
  for (ModuleState *other : driver->modules) {
    loadedAgain |= other->module == module->module;
  }
  Vec<FunctionState *> &functions = driver->functions;
  for (size_t i = functions.size(); i > 0 && !loadedAgain; --i) {
    FunctionState *function = functions[i - 1];
    if (function->module == module->module) {
      take(functions, function);
      destroy(function);
    }
  }
  unregisterGlobals(*module->module, driver->memory);
  destroy(module);
  return success;
}

Result moduleGetFunction(Function *out, Module module, const char *name) {
  DriverLock driver;
  for (uint32_t i = 0; i < module->module->num_kernels; ++i) {
    const ampc_sim_kernel &kernel = module->module->kernels[i];
    if (strcmp(kernel.name, name) != 0) {
      continue;
    }
    for (FunctionState *function : driver->functions) {
      if (function->kernel == &kernel && function->module == module->module) {
        *out = function;
        return success;
      }
    }
    *out = make<FunctionState>();
    **out = {module->module, &kernel, 48 * 1024};
    driver->functions.push(*out);
    return success;
  }
  return notFound;
}

Result moduleGetGlobal(DevicePointer *address, size_t *bytes, Module module,
                       const char *name) {
  for (uint32_t i = 0; i < module->module->num_globals; ++i) {
    const ampc_sim_global &global = module->module->globals[i];
    if (strcmp(global.name, name) == 0) {
      if (address) {
        *address = reinterpret_cast<DevicePointer>(global.address);
      }
      if (bytes) {
        *bytes = global.bytes;
      }
      return success;
    }
  }
  return notFound;
}

Result funcSetAttribute(Function function, FunctionAttribute attribute,
                        int value) {
  DriverLock driver;
  if (attribute == functionSharedCarveout) {
    return success; // a hint
  }
  uint32_t most = maxSharedBytes(driver->options.arch);
  if (attribute != functionMaxDynamicShared || value < 0 ||
      static_cast<uint32_t>(value) + sharedBytesOf(*function->kernel) > most) {
    return invalidValue;
  }
  function->maxDynamicShared = static_cast<uint32_t>(value);
  return success;
}

Result funcGetAttribute(int *value, FunctionAttribute attribute,
                        Function function) {
  DriverLock driver;
  const ampc_sim_kernel &kernel = *function->kernel;
  switch (attribute) {
  case functionMaxThreads:
    *value = kernel.max_threads ? static_cast<int>(kernel.max_threads) : 1024;
    return success;
  case functionSharedBytes:
    *value = static_cast<int>(sharedBytesOf(kernel));
    return success;
  case functionMaxDynamicShared:
    *value = static_cast<int>(function->maxDynamicShared);
    return success;
  default:
    return notSupported; // registers: nothing assigned any
  }
}

Result launchKernel(Function function, unsigned gridX, unsigned gridY,
                    unsigned gridZ, unsigned blockX, unsigned blockY,
                    unsigned blockZ, unsigned shared, Stream stream,
                    void **params, void **extra) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  Work work;
  Result error =
      driver->makeKernel(&work, function, {gridX, gridY, gridZ},
                         {blockX, blockY, blockZ}, shared, params, extra);
  return error ? error : driver->enqueue(work, stream);
}

Result launchKernelEx(const LaunchConfigEx *config, Function function,
                      void **params, void **extra) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const LaunchAttribute &attribute = config->attrs[i];
    const auto &cluster = attribute.value.clusterDim;
    bool one = attribute.id == attributeClusterDimension && cluster.x == 1 &&
               cluster.y == 1 && cluster.z == 1;
    if (!one && attribute.id != attributeIgnore) {
      return notSupported;
    }
  }
  return launchKernel(function, config->gridDimX, config->gridDimY,
                      config->gridDimZ, config->blockDimX, config->blockDimY,
                      config->blockDimZ, config->sharedMemBytes,
                      config->hStream, params, extra);
}

Result tensorMapEncodeTiled(TensorMapBytes *out, int type, uint32_t rank,
                            void *address, const uint64_t *sizes,
                            const uint64_t *strides, const uint32_t *box,
                            const uint32_t *elementStrides, int interleave,
                            int swizzle, int l2Promotion, int oobFill) {
  TensorMapArguments arguments{static_cast<uint32_t>(type),
                               rank,
                               address,
                               sizes,
                               strides,
                               box,
                               elementStrides,
                               static_cast<uint32_t>(interleave),
                               static_cast<uint32_t>(swizzle),
                               static_cast<uint32_t>(l2Promotion),
                               static_cast<uint32_t>(oobFill)};
  TensorMap map;
  Status status = encodeTensorMap(arguments, &map);
  if (!status.ok()) {
    return status.code() == AMPC_UNSUPPORTED ? notSupported : invalidValue;
  }
  memset(out, 0, sizeof *out);
  memcpy(out, &map, sizeof map);
  return success;
}

} // namespace ampc::runtime::sim::entry
