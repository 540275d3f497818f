//===- KernelReport.cpp - The report of GPU kernels, as JSON or a table ---===//
#include "compiler/Driver/KernelReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace ampc::driver {

namespace {

/// A kernel on one GPU: as long as its operations or its bytes take at the
/// rates of the data sheet, without the time that a launch takes.
struct Roofline {
  const Gpu *gpu;
  const KernelVariantFacts *variant;
  Occupancy occupancy;
  double computeSeconds = 0, memorySeconds = 0;

  double getSeconds() const { return std::max(computeSeconds, memorySeconds); }
  StringRef getBound() const {
    return computeSeconds > memorySeconds ? "compute" : "memory";
  }
};

/// One column of the report.
struct Column {
  const Gpu *gpu;
  const CudaArchitecture *architecture; ///< of the code that it would run
};

} // namespace

static Roofline computeRoofline(const KernelFacts &kernel,
                                const KernelVariantFacts &variant,
                                const Gpu &gpu) {
  Roofline result{&gpu, &variant, {}};
  const auto &resources = variant.resources;
  unsigned threads = variant.block[0] * variant.block[1] * variant.block[2];
  // A younger GPU may run the code of an older one.
  const CudaArchitecture &device = **findCudaArchitecture(gpu.architecture);
  if (resources) {
    result.occupancy =
        computeOccupancy(device, threads, resources->registers,
                         resources->sharedBytes + variant.dynamicSharedBytes);
  }
  double rate = variant.products == cuda::ProductRate::Half   ? gpu.rate16
                : variant.products == cuda::ProductRate::Tf32 ? gpu.rateTf32
                                                              : gpu.rateFp32;
  result.computeSeconds =
      static_cast<double>(kernel.flops) / (rate > 0 ? rate : gpu.rateFp32);
  result.memorySeconds = static_cast<double>(kernel.bytes) / gpu.bandwidth;
  return result;
}

/// Whether a GPU of `device` runs code of `code`: see chooseImage.
static bool runs(const CudaArchitecture &code, const CudaArchitecture &device) {
  if (code.name.ends_with("a")) {
    return code.name == device.name;
  }
  return std::pair(code.major, code.minor) <=
         std::pair(device.major, device.minor);
}

/// The columns of a report: `gpu` alone, or a GPU of each architecture.
static std::vector<Column> chooseColumns(const KernelReport &report,
                                         const Gpu *gpu) {
  std::vector<Column> columns;
  if (report.kernels.empty()) {
    return columns;
  }
  for (const KernelVariantFacts &variant : report.kernels.front().variants) {
    const CudaArchitecture *code = variant.architecture;
    const Gpu *chosen = gpu ? gpu : findGpuOf(*code);
    if (!chosen || !runs(*code, **findCudaArchitecture(chosen->architecture))) {
      continue;
    }
    if (!gpu) {
      columns.push_back({chosen, code});
    } else {
      columns = {{chosen, code}}; // variants come oldest first
    }
  }
  return columns;
}

static std::optional<Roofline> rooflineOf(const KernelFacts &kernel,
                                          const Column &column) {
  for (const KernelVariantFacts &variant : kernel.variants) {
    if (variant.architecture == column.architecture) {
      return computeRoofline(kernel, variant, *column.gpu);
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Value toJson(const std::array<uint32_t, 3> &sizes) {
  return json::Array{sizes[0], sizes[1], sizes[2]};
}

static json::Object toJson(const Roofline &roofline) {
  const KernelVariantFacts &variant = *roofline.variant;
  json::Object mix;
  for (const auto &[kind, count] : variant.mix.counts) {
    mix[kind] = count;
  }
  json::Object object{{"architecture", variant.architecture->name},
                      {"gpu", roofline.gpu->name},
                      {"symbol", variant.symbol},
                      {"grid", toJson(variant.grid)},
                      {"block", toJson(variant.block)},
                      {"dynamic_shared_bytes", variant.dynamicSharedBytes},
                      {"workspace_bytes", variant.workspaceBytes},
                      {"roofline_us", roofline.getSeconds() * 1e6},
                      {"bound", roofline.getBound()}};
  if (variant.mix.total != 0) {
    object["main_loop"] =
        json::Object{{"source", variant.isMixOfSass ? "sass" : "ptx"},
                     {"is_loop", variant.mix.isLoop},
                     {"instructions", variant.mix.total},
                     {"mix", std::move(mix)}};
  }
  if (const auto &resources = variant.resources) {
    object["registers"] = resources->registers;
    object["static_shared_bytes"] = resources->sharedBytes;
    object["stack_bytes"] = resources->stackBytes;
    object["code_bytes"] = resources->codeBytes;
    object["blocks_per_multiprocessor"] = roofline.occupancy.blocks;
    object["occupancy"] = roofline.occupancy.getShare();
    object["limiter"] = roofline.occupancy.limiter;
  }
  if (variant.spillStoreBytes) {
    object["spill_store_bytes"] = *variant.spillStoreBytes;
    object["spill_load_bytes"] = *variant.spillLoadBytes;
  }
  return object;
}

static json::Value paramsToJson(const KernelFacts &kernel) {
  json::Array params;
  for (const KernelParam &param : kernel.params) {
    json::Object object{{"bytes", param.bytes}, {"output", param.isOutput}};
    if (!param.elementType.empty()) {
      object["type"] = param.elementType;
      object["shape"] = json::Array(param.shape);
    }
    params.push_back(std::move(object));
  }
  return params;
}

static json::Object totalsToJson(const KernelReport &report,
                                 const Column &column) {
  uint64_t launches = 0, flops = 0, bytes = 0, workspace = 0;
  double seconds = 0;
  for (const KernelFacts &kernel : report.kernels) {
    uint64_t count = kernel.nodes.size();
    launches += count;
    flops += count * kernel.flops;
    bytes += count * kernel.bytes;
    if (auto roofline = rooflineOf(kernel, column)) {
      // One serves all launches, which run one after the other.
      workspace = std::max(workspace, roofline->variant->workspaceBytes);
      seconds += static_cast<double>(count) * roofline->getSeconds();
    }
  }
  return json::Object{
      {"architecture", column.architecture->name},
      {"gpu", column.gpu->name},
      {"launches", launches},
      {"flops", flops},
      {"bytes", bytes},
      {"roofline_us", seconds * 1e6},
      {"workspace_bytes", workspace},
      {"device_bytes", report.memory.getTensorBytes() + workspace}};
}

static json::Value toJson(const KernelReport &report,
                          ArrayRef<Column> columns) {
  json::Array kernels, totals;
  for (const KernelFacts &kernel : report.kernels) {
    json::Array variants, nodes;
    for (const Column &column : columns) {
      if (auto roofline = rooflineOf(kernel, column)) {
        variants.push_back(toJson(*roofline));
      }
    }
    for (const std::string &node : kernel.nodes) {
      nodes.push_back(json::fixUTF8(node));
    }
    kernels.push_back(json::Object{{"name", kernel.name},
                                   {"launches", kernel.nodes.size()},
                                   {"nodes", std::move(nodes)},
                                   {"flops", kernel.flops},
                                   {"bytes", kernel.bytes},
                                   {"params", paramsToJson(kernel)},
                                   {"variants", std::move(variants)}});
  }
  for (const Column &column : columns) {
    totals.push_back(totalsToJson(report, column));
  }
  const DeviceMemory &memory = report.memory;
  return json::Object{
      {"version", 1},
      {"source", json::fixUTF8(report.source)},
      {"figures", "static"},
      {"memory", json::Object{{"weights", memory.weights},
                              {"activations", memory.activations},
                              {"inputs", memory.inputs},
                              {"outputs", memory.outputs},
                              {"pinned_host_bytes", memory.staging}}},
      {"kernels", std::move(kernels)},
      {"totals", std::move(totals)}};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string describeMix(const cuda::InstructionMix &mix) {
  SmallVector<std::pair<unsigned, StringRef>> sorted;
  for (const auto &[kind, count] : mix.counts) {
    sorted.emplace_back(count, kind);
  }
  llvm::sort(sorted, [](const auto &lhs, const auto &rhs) {
    return std::pair(~lhs.first, lhs.second) <
           std::pair(~rhs.first, rhs.second);
  });
  std::string text;
  for (const auto &[count, kind] : ArrayRef(sorted).take_front(6)) {
    text += (" " + Twine(count) + " " + kind).str() + ",";
  }
  return StringRef(text).drop_back(text.empty() ? 0 : 1).str();
}

static void printKernel(const KernelFacts &kernel, ArrayRef<Column> columns,
                        raw_ostream &os) {
  os << kernel.name << ": " << kernel.nodes.size()
     << (kernel.nodes.size() == 1 ? " launch, " : " launches, ")
     << format("%.3f MFLOP, %.3f MB\n", kernel.flops * 1e-6,
               kernel.bytes * 1e-6);
  for (const Column &column : columns) {
    auto roofline = rooflineOf(kernel, column);
    if (!roofline) {
      continue;
    }
    const KernelVariantFacts &variant = *roofline->variant;
    os << format("  %-7s", variant.architecture->name.data()) << "grid "
       << variant.grid[0] << 'x' << variant.grid[1] << 'x' << variant.grid[2]
       << ", " << variant.block[0] * variant.block[1] * variant.block[2]
       << " threads, shared "
       << (variant.resources ? variant.resources->sharedBytes : 0) << "+"
       << variant.dynamicSharedBytes;
    if (variant.resources) {
      os << ", " << variant.resources->registers << " registers, stack "
         << variant.resources->stackBytes;
      if (variant.spillStoreBytes) {
        os << ", spills " << *variant.spillStoreBytes << "/"
           << *variant.spillLoadBytes;
      }
      os << format(", occupancy %.0f %% (%u blocks, by ",
                   100 * roofline->occupancy.getShare(),
                   roofline->occupancy.blocks)
         << roofline->occupancy.limiter << ")";
    }
    os << "\n         "
       << format("%s: at best %.2f us, by ", column.gpu->name.data(),
                 roofline->getSeconds() * 1e6)
       << roofline->getBound();
    if (variant.mix.total != 0) {
      os << "; " << (variant.mix.isLoop ? "main loop" : "no loop") << " ("
         << (variant.isMixOfSass ? "SASS" : "PTX") << ") " << variant.mix.total
         << ":" << describeMix(variant.mix);
    }
    os << '\n';
  }
}

static void printText(const KernelReport &report, ArrayRef<Column> columns,
                      raw_ostream &os) {
  os << "static figures: of the code and the data sheet, nothing was run\n";
  for (const KernelFacts &kernel : report.kernels) {
    printKernel(kernel, columns, os);
  }
  os << '\n';
  for (const Column &column : columns) {
    json::Object totals = totalsToJson(report, column);
    os << column.gpu->name << " (" << column.architecture->name
       << "): " << *totals.getInteger("launches") << " launches, "
       << format("%.3f GFLOP, %.3f MB, at best %.1f us\n",
                 *totals.getNumber("flops") * 1e-9,
                 *totals.getNumber("bytes") * 1e-6,
                 *totals.getNumber("roofline_us"));
  }
  const DeviceMemory &memory = report.memory;
  for (const Column &column : columns) {
    json::Object totals = totalsToJson(report, column);
    os << "device memory, " << column.architecture->name << ": "
       << *totals.getInteger("device_bytes") << " bytes (weights "
       << memory.weights << ", activations " << memory.activations
       << ", workspace " << *totals.getInteger("workspace_bytes") << ", inputs "
       << memory.inputs << ", outputs " << memory.outputs << ")\n";
  }
  os << "pinned on the host: " << memory.staging << " bytes\n";
}

LogicalResult printKernelReport(const KernelReport &report, const Gpu *gpu,
                                bool json, raw_ostream &os,
                                DiagnosticSink &sink) {
  std::vector<Column> columns = chooseColumns(report, gpu);
  if (columns.empty() && !report.kernels.empty()) {
    return sink.error(ExitCode::Usage,
                      gpu ? "--gpu: there is no code for " + gpu->name.str()
                          : "no GPU of these architectures is known; expected "
                            "--gpu=NAME");
  }
  if (json) {
    os << formatv("{0:2}\n", toJson(report, columns));
  } else {
    printText(report, columns, os);
  }
  return success();
}

} // namespace ampc::driver
