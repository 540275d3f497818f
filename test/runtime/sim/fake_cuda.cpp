//===- fake_cuda.cpp - A libcuda.so.1 over the simulator ------------------===//
//
// What the dynamic loader finds instead of CUDA's driver, so that loading it is
// tested without a GPU. PTX, and a cubin for this device, is taken for the toy
// kernels, and a kernel that is none of them for one that does nothing.
// FAKE_CUDA_ARCH is the device's architecture, 0 for a machine without one;
// FAKE_CUDA_MEMORY its bytes, without the simulator's detectors.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/sim/driver.h"
#include "test/runtime/sim/toy_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace ampc::runtime;
using namespace ampc::runtime::cuda;

static unsigned arch() {
  const char *text = getenv("FAKE_CUDA_ARCH");
  return text ? static_cast<unsigned>(atoi(text)) : 80;
}

static Result start(unsigned flags) {
  if (arch() == 0) {
    return noDevice;
  }
  sim::Options options;
  options.arch = arch();
  options.checks = !getenv("FAKE_CUDA_MEMORY");
  sim::resetDriver(options);
  return sim::driverApi().init(flags);
}

static Result loadImage(Module *out, const void *image, unsigned count,
                        int *names, void **values) {
  auto *text = static_cast<const char *>(image);
  char cubin[32];
  snprintf(cubin, sizeof cubin, "cubin %u", arch());
  bool isCode = strstr(text, ".version") || strncmp(text,
                                                    "\x7f"
                                                    "ELF",
                                                    4) == 0;
  if (!isCode && strcmp(text, cubin) != 0) {
    return invalidImage;
  }
  return sim::driverApi().moduleLoadDataEx(out, &toy::module, count, names,
                                           values);
}

static size_t memory() {
  const char *text = getenv("FAKE_CUDA_MEMORY");
  return text ? strtoull(text, nullptr, 10) : size_t(16) << 30;
}
static size_t used = 0; // nothing is given back before the end of a test

static Result allocate(DevicePointer *out, size_t bytes) {
  if (bytes > memory() - used) {
    return outOfMemory;
  }
  used += bytes;
  return sim::driverApi().memAlloc(out, bytes);
}

static Result tellMemory(size_t *free, size_t *total) {
  *total = memory();
  *free = *total - used;
  return success;
}

static Result findFunction(Function *out, Module module, const char *name) {
  Result result = sim::driverApi().moduleGetFunction(out, module, name);
  return result == notFound
             ? sim::driverApi().moduleGetFunction(out, module, "nothing")
             : result;
}

/// The functions that differ from the look-alike's.
static DriverApi makeTable() {
  DriverApi table = sim::driverApi();
  table.init = start;
  table.moduleLoadDataEx = loadImage;
  table.moduleGetFunction = findFunction;
  table.memAlloc = allocate;
  table.memGetInfo = tellMemory;
  return table;
}

/// Calls the function of the table that lies at `offset`.
template <size_t offset, typename... T>
static Result forward(T... arguments) {
  DriverApi table = makeTable();
  Result (*function)(T...);
  memcpy(&function, reinterpret_cast<const char *>(&table) + offset,
         sizeof function);
  return function(arguments...);
}
template <size_t offset, typename... T>
static auto forwarder(Result (*)(T...)) -> Result (*)(T...) {
  return forward<offset, T...>;
}

// The parameters have no names to forward them by, so a symbol is resolved to
// the instance of the template for its type.
#define FAKE(name, symbol, params)                                             \
  extern "C" decltype(DriverApi::name) resolve_##symbol() {                    \
    return forwarder<offsetof(DriverApi, name)>(                               \
        static_cast<decltype(DriverApi::name)>(nullptr));                      \
  }                                                                            \
  extern "C" Result symbol params __attribute__((ifunc("resolve_" #symbol)));
AMPC_CUDA_DRIVER_FUNCTIONS(FAKE)
