//===- open_gpu.cpp - Choose a GPU and load the program's code ------------===//
#include "runtime/core/gpu_images.h"
#include "runtime/devices/cuda/gpu_device.h"

namespace ampc::runtime::cuda {
namespace {

/// The number behind the device's name; 0 without one.
Status parseOrdinal(const char *name, int *out) {
  const char *colon = name ? strchr(name, ':') : nullptr;
  *out = 0;
  if (!colon) {
    return Status();
  }
  char *end = nullptr;
  unsigned long number = strtoul(colon + 1, &end, 10);
  if (colon[1] < '0' || colon[1] > '9' || *end || number > 1023) {
    return Status::error(AMPC_USAGE,
                         "expected a device such as 'cuda:1', got '%s'", name);
  }
  *out = static_cast<int>(number);
  return Status();
}

/// What a message calls the device.
struct Description {
  char name[128] = "";
  int major = 0, minor = 0;
};

Status chooseDevice(GpuDevice &self, const DeviceOptions &options,
                    Description *out) {
  AMPC_TRY(parseOrdinal(options.name, &self.ordinal));
  AMPC_TRY(AMPC_CUDA(self, init, 0));
  int count = 0;
  AMPC_TRY(AMPC_CUDA(self, deviceGetCount, &count));
  if (self.ordinal >= count) {
    return Status::error(AMPC_DEVICE, "there is no GPU %d: the driver has %d",
                         self.ordinal, count);
  }
  AMPC_TRY(AMPC_CUDA(self, deviceGet, &self.handle, self.ordinal));
  AMPC_TRY(AMPC_CUDA(self, deviceGetName, out->name, sizeof out->name - 1,
                     self.handle));
  AMPC_TRY(AMPC_CUDA(self, deviceGetAttribute, &out->major, capabilityMajor,
                     self.handle));
  return AMPC_CUDA(self, deviceGetAttribute, &out->minor, capabilityMinor,
                   self.handle);
}

/// Loads a part of the image; what the driver's compiler says about PTX goes
/// into the error.
Status loadModule(GpuDevice &self, const ampc_gpu_module &code) {
  constexpr int errorLog = 5, errorLogBytes = 6; // CU_JIT_*
  char log[1024] = "";
  int names[] = {errorLog, errorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  Module module = nullptr;
  Status status =
      AMPC_CUDA(self, moduleLoadDataEx, &module, code.data, 2, names, values);
  if (status.ok()) {
    self.modules.push(module);
    return status;
  }
  if (!log[0]) {
    return status;
  }
  return Status::error(AMPC_DEVICE, "%s: %s", status.message(), log);
}

/// More dynamic shared memory than this has to be asked for.
constexpr uint32_t plainShared = 48 << 10;

Status loadFunction(GpuDevice &self, const ampc_gpu_launch &launch,
                    Function *out) {
  AMPC_TRY(AMPC_CUDA(self, moduleGetFunction, out, self.modules[launch.module],
                     launch.symbol)
               .withPrefix(launch.symbol));
  if (launch.shared_bytes <= plainShared) {
    return Status();
  }
  int most = 0;
  AMPC_TRY(AMPC_CUDA(self, deviceGetAttribute, &most, maxSharedPerBlockOptIn,
                     self.handle));
  if (launch.shared_bytes > static_cast<uint32_t>(most)) {
    return Status::error(AMPC_DEVICE,
                         "kernel %s needs %u bytes of shared memory, this GPU "
                         "has %d for a block",
                         launch.symbol, launch.shared_bytes, most);
  }
  return AMPC_CUDA(self, funcSetAttribute, *out, functionMaxDynamicShared,
                   static_cast<int>(launch.shared_bytes))
      .withPrefix(launch.symbol);
}

Status loadCode(GpuDevice &self, const Description &gpu) {
  const ampc_gpu_code &code = *self.program->gpu;
  self.image =
      chooseImage(code, static_cast<uint32_t>(gpu.major * 10 + gpu.minor));
  if (!self.image) {
    return Status::error(AMPC_DEVICE,
                         "this program has code for %s; GPU %d, %s, has "
                         "compute capability %d.%d",
                         describeImages(code).c_str(), self.ordinal, gpu.name,
                         gpu.major, gpu.minor);
  }
  Str what;
  what.appendf("loading the %s of %s on GPU %d, %s of compute capability %d.%d",
               imageKindName(self.image->kind),
               architectureName(*self.image).c_str(), self.ordinal, gpu.name,
               gpu.major, gpu.minor);
  for (uint32_t i = 0; i < self.image->num_modules; ++i) {
    AMPC_TRY(loadModule(self, self.image->modules[i]).withPrefix(what.c_str()));
  }
  uint32_t mostParams = 0;
  for (uint32_t i = 0; i < self.program->num_kernels; ++i) {
    const ampc_gpu_launch &launch = self.image->launches[i];
    Function function = nullptr;
    AMPC_TRY(loadFunction(self, launch, &function));
    self.functions.push(function);
    uint32_t params = launch.num_params + launch.num_tensor_maps +
                      (launch.workspace_bytes ? 1 : 0);
    mostParams = params > mostParams ? params : mostParams;
  }
  self.arguments.resize(mostParams);
  return Status();
}

} // namespace

Status GpuDevice::check(Result result, const char *call) const {
  if (result == success) {
    return Status();
  }
  if (platform->explain) {
    AMPC_TRY(platform->explain());
  }
  const char *name = nullptr, *text = nullptr;
  api.getErrorName(result, &name);
  api.getErrorString(result, &text);
  if (!name || !text) {
    return Status::error(AMPC_DEVICE,
                         "the GPU's driver failed in %s with error %d", call,
                         static_cast<int>(result));
  }
  return Status::error(AMPC_DEVICE, "the GPU's driver failed in %s: %s (%s)",
                       call, text, name);
}

Status openGpu(GpuDevice &self, const DeviceOptions &options) {
  const ampc_gpu_code &code = *self.program->gpu;
  for (uint32_t i = 0; i < code.num_images; ++i) {
    bool isSimulators = code.images[i].kind == AMPC_GPU_IMAGE_SIMULATOR;
    if (isSimulators != self.platform->simulates) {
      return Status::error(AMPC_INVALID,
                           "malformed program: %s code is not for this device",
                           imageKindName(code.images[i].kind));
    }
  }
  AMPC_TRY(self.platform->open(options, &self.api));
  self.opened = true;
  Description gpu;
  AMPC_TRY(chooseDevice(self, options, &gpu));
  AMPC_TRY(AMPC_CUDA(self, primaryCtxRetain, &self.context, self.handle));
  entry::beginRun(reinterpret_cast<runtime::Device *>(&self));
  Status status =
      AMPC_CUDA(self, streamCreate, &self.stream, streamNonBlocking);
  if (status.ok()) {
    status = loadCode(self, gpu);
  }
  Status ended = entry::endRun(reinterpret_cast<runtime::Device *>(&self));
  return status.ok() ? std::move(ended) : std::move(status);
}

} // namespace ampc::runtime::cuda
