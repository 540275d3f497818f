//===- Devices.cpp - What programs can run on here ------------------------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Targets/Target.h"
#include "mlir/IR/MLIRContext.h"
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

LogicalResult devicesCommand(const Options &options, DiagnosticSink &sink) {
  std::string error;
  std::unique_ptr<Target> target = createCpuTarget("native", error);
  StringMap<bool> features = sys::getHostCPUFeatures();
  std::vector<std::string> present;
  for (StringRef feature :
       {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512vl", "avx512bf16",
        "avx512fp16", "amx-bf16"}) {
    if (features.lookup(feature)) {
      present.push_back(feature.str());
    }
  }
  uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned threads = hardware_concurrency().compute_thread_count();
  std::vector<std::string> native = {"fp64", "fp32"};
  if (features.lookup("avx512fp16")) {
    native.push_back("fp16");
  }
  if (features.lookup("avx512bf16") || features.lookup("amx-bf16")) {
    native.push_back("bf16");
  }
  std::string chosen = "off";
  if (target) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<amp::AmpDialect>();
    chosen = target->getTargetAttr(&context).getNative_16bit() ? "bf16" : "off";
  }
  if (options.json) {
    json::Object cpu{{"name", "cpu"},
                     {"chip", getChipName()},
                     {"march", sys::getHostCPUName()},
                     {"features", json::Array(present)},
                     {"memory_bytes", memory},
                     {"threads", threads},
                     {"native_types", json::Array(native)},
                     {"usable", target != nullptr},
                     {"auto", chosen}};
    outs() << formatv(
        "{0:2}\n",
        json::Value(json::Object{{"devices", json::Array{std::move(cpu)}}}));
    return success();
  }
  outs() << "cpu\n"
         << "  chip:          " << getChipName() << " ("
         << sys::getHostCPUName() << ")\n"
         << "  features:      " << join(present, " ") << '\n'
         << formatv("  memory:        {0:f1} GiB\n", memory / double(1 << 30))
         << "  threads:       " << threads << '\n'
         << "  native types:  " << join(native, ", ") << '\n'
         << "  --amp=auto:    " << chosen << '\n';
  if (!target) {
    outs() << "  unusable:      " << error << '\n';
  }
  outs() << "cuda: none found\n";
  return success();
}

} // namespace ampc::driver
