//===- cuda_device.cpp - CUDA's driver, loaded when a program runs --------===//
#include "runtime/core/gpu_images.h"
#include "runtime/devices/cuda/gpu_device.h"

#include <dlfcn.h>

namespace ampc::runtime::cuda {
namespace {

struct Symbol {
  const char *name;
  size_t offset; // of the function in DriverApi
};

constexpr Symbol symbols[] = {
#define AMPC_CUDA_SYMBOL(name, symbol, params)                                 \
  {#symbol, offsetof(DriverApi, name)},
    AMPC_CUDA_DRIVER_FUNCTIONS(AMPC_CUDA_SYMBOL)
#undef AMPC_CUDA_SYMBOL
};

/// "8.0 or later" of what the program was compiled for.
Str neededGpu(const ampc_program &program) {
  const ampc_gpu_code &code = *program.gpu;
  uint32_t oldest = oldestArchitecture(code);
  bool orLater = false;
  for (uint32_t i = 0; i < code.num_images; ++i) {
    orLater |= code.images[i].kind != AMPC_GPU_IMAGE_EXACT_CUBIN;
  }
  Str text;
  text.appendf("this program needs a GPU of compute capability %u.%u%s",
               oldest / 10, oldest % 10, orLater ? " or later" : "");
  return text;
}

Status open(const DeviceOptions &options, DriverApi *out) {
  Str needed = neededGpu(*options.program);
  // The driver starts threads and cannot be unloaded.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *reason = dlerror();
    return Status::error(AMPC_DEVICE, "no CUDA driver: %s; %s",
                         reason ? reason : "libcuda.so.1 cannot be loaded",
                         needed.c_str());
  }
  for (const Symbol &symbol : symbols) {
    void *address = dlsym(library, symbol.name);
    if (!address) {
      return Status::error(AMPC_DEVICE,
                           "the CUDA driver is too old: libcuda.so.1 has no "
                           "%s; expected that of CUDA 12.0 or later",
                           symbol.name);
    }
    memcpy(reinterpret_cast<char *>(out) + symbol.offset, &address,
           sizeof address);
  }
  Result result = out->init(0);
  int count = 0;
  if (result == success) {
    result = out->deviceGetCount(&count);
  }
  if (result == noDevice || (result == success && count == 0)) {
    return Status::error(AMPC_DEVICE,
                         "no GPU: libcuda.so.1 finds no device; %s",
                         needed.c_str());
  }
  if (result != success) {
    const char *text = nullptr;
    out->getErrorString(result, &text);
    return Status::error(AMPC_DEVICE,
                         "the CUDA driver does not start: %s (error %d); %s",
                         text ? text : "unknown error",
                         static_cast<int>(result), needed.c_str());
  }
  return Status();
}

constexpr Platform platform = {false, open, nullptr, nullptr, nullptr, nullptr};

Status create(const DeviceOptions &options, runtime::Device **outDevice) {
  return entry::create(platform, options, outDevice);
}

} // namespace
} // namespace ampc::runtime::cuda

const ampc_device ampc_cuda_device = {
    AMPC_GPU_DEVICE("cuda", ampc::runtime::cuda::create)};
