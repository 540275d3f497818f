//===- Devices.cpp - What programs can run on here ------------------------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/CudaDevices.h"
#include "compiler/Targets/CUDA/Architectures.h"
#include "compiler/Targets/Target.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/TargetParser/Host.h"

#include <unistd.h>

using namespace llvm;

namespace ampc::driver {

/// The processor's name as its maker gives it, or LLVM's for it.
static std::string getChipName() {
  // A file of no size: it cannot be mapped.
  auto buffer = MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (buffer) {
    for (StringRef line : split((*buffer)->getBuffer(), '\n')) {
      if (line.starts_with("model name")) {
        return line.split(':').second.trim().str();
      }
    }
  }
  return sys::getHostCPUName().str();
}

namespace {
/// One device in the words of the command line.
struct Device {
  std::string name, chip, arch;
  uint64_t memoryBytes = 0;
  std::vector<std::string> nativeTypes;
  std::string driver; ///< empty: needs none
  std::string amp, ampReason;
  std::string unusable; ///< why no program can be made for it; empty: one can
  std::vector<std::string> features;
  unsigned threads = 0; ///< of a CPU
};
} // namespace

static Device describeCpu() {
  Device cpu;
  StringMap<bool> features = sys::getHostCPUFeatures();
  for (StringRef feature :
       {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512bf16",
        "avx512fp16", "amx-bf16"}) {
    if (features.lookup(feature)) {
      cpu.features.push_back(feature.str());
    }
  }
  cpu.name = "cpu";
  cpu.chip = getChipName();
  cpu.arch = sys::getHostCPUName().str();
  cpu.memoryBytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  cpu.threads = hardware_concurrency().compute_thread_count();
  cpu.nativeTypes = {"fp64", "fp32"};
  if (features.lookup("avx512fp16")) {
    cpu.nativeTypes.push_back("fp16");
  }
  if (features.lookup("avx512bf16") || features.lookup("amx-bf16")) {
    cpu.nativeTypes.push_back("bf16");
  }
  cpu.amp = "off";
  std::unique_ptr<Target> target = createCpuTarget("native", cpu.unusable);
  if (target) {
    cpu.amp = stringifyAmpPolicy(chooseAutoPolicy(*target));
    cpu.ampReason = describeAutoPolicy(*target);
  }
  return cpu;
}

static Device describeGpu(const CudaDevice &gpu, size_t index,
                          StringRef driver) {
  Device device;
  device.name = "cuda:" + std::to_string(index);
  device.chip = gpu.chip;
  device.arch = ("sm_" + Twine(gpu.major) + Twine(gpu.minor)).str();
  device.memoryBytes = gpu.memoryBytes;
  device.driver = ("CUDA " + driver).str();
  device.nativeTypes = {"fp64", "fp32"};
  Expected<const CudaArchitecture *> arch = findCudaArchitecture(device.arch);
  if (!arch) {
    consumeError(arch.takeError());
    device.unusable = "this version of ampc does not know " + device.arch;
    return device;
  }
  for (StringRef type : {"tf32", "fp16", "bf16"}) {
    if ((*arch)->hasType(type)) {
      device.nativeTypes.push_back(type.str());
    }
  }
  device.amp = (*arch)->hasFp16 ? "fp16" : "off";
  device.ampReason = (*arch)->hasFp16
                         ? "its matrix units multiply fp16, which has more "
                           "significant bits than bf16"
                         : "it has no matrix units";
  if (gpu.major * 10 + gpu.minor < oldestCudaCapability) {
    device.unusable = "CUDA 13 dropped what came before sm_75";
  }
  return device;
}

static json::Object toJson(const Device &device) {
  json::Object object{{"name", device.name},
                      {"chip", json::fixUTF8(device.chip)},
                      {"arch", device.arch},
                      {"memory_bytes", device.memoryBytes},
                      {"native_types", json::Array(device.nativeTypes)},
                      {"driver", device.driver},
                      {"auto", device.amp},
                      {"auto_reason", device.ampReason},
                      {"usable", device.unusable.empty()}};
  if (!device.unusable.empty()) {
    object["unusable_reason"] = device.unusable;
  }
  if (device.threads != 0) {
    object["threads"] = device.threads;
    object["features"] = json::Array(device.features);
  }
  return object;
}

static void print(const Device &device) {
  auto row = [](StringRef title, const Twine &text) {
    outs() << "  " << left_justify(title, 15) << text << '\n';
  };
  outs() << device.name << '\n';
  row("chip:", device.chip + " (" + device.arch + ")");
  if (device.threads != 0) {
    row("features:", join(device.features, " "));
  }
  row("memory:",
      formatv("{0:f1} GiB", device.memoryBytes / double(1 << 30)).str());
  if (device.threads != 0) {
    row("threads:", Twine(device.threads));
  }
  row("native types:", join(device.nativeTypes, ", "));
  row("driver:", device.driver.empty() ? "needs none" : device.driver);
  row("--amp=auto:", device.amp + " (" + device.ampReason + ")");
  if (!device.unusable.empty()) {
    row("unusable:", device.unusable);
  }
}

LogicalResult devicesCommand(const Options &options, DiagnosticSink &sink) {
  std::vector<Device> devices = {describeCpu()};
  CudaDevices cuda = findCudaDevices();
  for (const auto &[index, gpu] : enumerate(cuda.devices)) {
    devices.push_back(describeGpu(gpu, index, cuda.driver));
  }
  if (options.json) {
    json::Array array;
    for (const Device &device : devices) {
      array.push_back(toJson(device));
    }
    json::Object object{{"devices", std::move(array)}};
    if (!cuda.reason.empty()) {
      object["no_cuda"] = cuda.reason;
    }
    outs() << formatv("{0:2}\n", json::Value(std::move(object)));
    return success();
  }
  for_each(devices, print);
  if (!cuda.reason.empty()) {
    outs() << "cuda: none: " << cuda.reason << '\n';
  }
  return success();
}

} // namespace ampc::driver
