//===- KernelFolder.cpp - GPU kernels for other programs ------------------===//
// What --emit=kernels writes: of each kernel its MLIR, PTX, cubins, a fatbin
// where `fatbinary` is at hand, and a C header; and an index of all.
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/KernelHeader.h"
#include "compiler/Driver/KernelReport.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Targets/CUDA/SimulatedKernel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
namespace json = llvm::json;

namespace ampc::driver {

namespace {

class KernelFolder {
public:
  explicit KernelFolder(Compilation &compilation)
      : compilation(compilation), options(compilation.getOptions()),
        sink(compilation.getSink()),
        report(collectKernels(compilation.getModule())) {}

  LogicalResult write();

private:
  LogicalResult compile();
  LogicalResult writeFile(const Twine &name, StringRef content);
  /// Files of the kernel `index`; its entry of the index is added.
  LogicalResult writeKernel(size_t index, amp::KernelOp kernel);
  LogicalResult writeCubins(size_t index, StringRef name,
                            std::vector<KernelCode> &code, json::Object &files);
  LogicalResult writeSimulated(size_t index, StringRef name,
                               amp::KernelOp kernel,
                               std::vector<KernelCode> &code,
                               json::Object &files);

  Compilation &compilation;
  const Options &options;
  DiagnosticSink &sink;
  KernelReport report;
  std::vector<cuda::KernelVariant> variants;
  size_t ptx = 0; ///< the variant whose PTX is written
  std::vector<cuda::CompiledKernels> compiled;
  json::Array entries;
};

} // namespace

LogicalResult KernelFolder::writeFile(const Twine &name, StringRef content) {
  SmallString<256> path(options.output);
  llvm::sys::path::append(path, name);
  return driver::writeFile(path, sink, [&](raw_ostream &os) { os << content; });
}

LogicalResult KernelFolder::compile() {
  auto architectures = compilation.getCudaArchitectures();
  if (options.simulate) {
    // The simulator is one device.
    variants = {{architectures.front(), false}};
  } else {
    cuda::ProgramVariants chosen = cuda::chooseVariants(architectures);
    variants = std::move(chosen.variants);
    ptx = chosen.ptx;
  }
  auto result = compilation.compileKernels(variants);
  if (failed(result)) {
    return failure();
  }
  compiled = std::move(*result);
  return success();
}

LogicalResult KernelFolder::writeCubins(size_t index, StringRef name,
                                        std::vector<KernelCode> &code,
                                        json::Object &files) {
  json::Object cubins;
  std::vector<std::pair<const CudaArchitecture *, StringRef>> images;
  for (auto [variant, kernels] : llvm::zip_equal(variants, compiled)) {
    const cuda::CompiledKernel &kernel = kernels[index];
    if (!variant.isAssembled) {
      continue;
    }
    StringRef architecture = variant.architecture->name;
    std::string file = (name + "." + architecture + ".cubin").str();
    if (failed(writeFile(file, kernel.assembly.cubin))) {
      return failure();
    }
    cubins[architecture] = file;
    images.emplace_back(variant.architecture, kernel.assembly.cubin);
    code.push_back({variant.architecture, file, "cubin", kernel.launch});
  }
  files["cubins"] = std::move(cubins);
  auto fatbin = images.empty()
                    ? std::nullopt
                    : cuda::makeFatbin(images, *variants[ptx].architecture,
                                       compiled[ptx][index].ptx);
  if (!fatbin) {
    return success();
  }
  files["fatbin"] = (name + ".fatbin").str();
  return writeFile(name + ".fatbin", *fatbin);
}

LogicalResult KernelFolder::writeSimulated(size_t index, StringRef name,
                                           amp::KernelOp kernel,
                                           std::vector<KernelCode> &code,
                                           json::Object &files) {
  const CudaArchitecture &architecture = *variants.front().architecture;
  auto object = cuda::compileForSimulator(kernel, architecture,
                                          compilation.getCodegenOptions(),
                                          (name + "_sim_module").str());
  if (failed(object)) {
    return failure();
  }
  code.push_back(
      {&architecture, "", "simulator", compiled.front()[index].launch});
  files["simulator"] = (name + ".sim.o").str();
  return writeFile(name + ".sim.o", *object);
}

static json::Value toJson(const std::array<uint32_t, 3> &sizes) {
  return json::Array{sizes[0], sizes[1], sizes[2]};
}

static json::Value toJson(ArrayRef<KernelCode> code) {
  json::Array array;
  for (const KernelCode &entry : code) {
    const auto &launch = entry.launch;
    array.push_back(json::Object{{"architecture", entry.architecture->name},
                                 {"kind", entry.kind},
                                 {"grid", toJson(launch.grid)},
                                 {"block", toJson(launch.block)},
                                 {"shared_bytes", launch.sharedBytes},
                                 {"tensor_maps", launch.tensorMaps.size()},
                                 {"workspace_bytes", launch.workspaceBytes}});
  }
  return array;
}

static json::Value toJson(ArrayRef<KernelParam> params) {
  json::Array array;
  for (const KernelParam &param : params) {
    array.push_back(json::Object{{"type", param.elementType},
                                 {"shape", json::Array(param.shape)},
                                 {"bytes", param.bytes},
                                 {"output", param.isOutput}});
  }
  return array;
}

LogicalResult KernelFolder::writeKernel(size_t index, amp::KernelOp kernel) {
  const cuda::CompiledKernel &plain = compiled[ptx][index];
  StringRef name = plain.launch.symbol;
  name.consume_front("k_");
  std::vector<KernelCode> code;
  json::Object files{{"mlir", (name + ".mlir").str()},
                     {"ptx", (name + ".ptx").str()},
                     {"header", (name + ".h").str()}};
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  os << '\n';
  if (failed(writeFile(name + ".mlir", text)) ||
      failed(writeFile(name + ".ptx", plain.ptx)) ||
      failed(options.simulate ? writeSimulated(index, name, kernel, code, files)
                              : writeCubins(index, name, code, files))) {
    return failure();
  }
  code.push_back(
      {variants[ptx].architecture, (name + ".ptx").str(), "ptx", plain.launch});
  text.clear();
  printKernelHeader(kernel, code, os);
  const KernelFacts &facts = report.kernels[index];
  json::Array nodes;
  for (const std::string &node : facts.nodes) {
    nodes.push_back(json::fixUTF8(node));
  }
  entries.push_back(json::Object{{"name", name},
                                 {"symbol", plain.launch.symbol},
                                 {"launches", facts.nodes.size()},
                                 {"nodes", std::move(nodes)},
                                 {"params", toJson(facts.params)},
                                 {"codes", toJson(code)},
                                 {"files", std::move(files)}});
  return writeFile(name + ".h", text);
}

LogicalResult KernelFolder::write() {
  if (failed(compile())) {
    return failure();
  }
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.output)) {
    return sink.error(ExitCode::InputOutput, "cannot make the folder '" +
                                                 options.output +
                                                 "': " + error.message());
  }
  std::string producer = compilation.getCodegenOptions().producer, types;
  llvm::raw_string_ostream os(types);
  printKernelTypes(producer, os);
  if (failed(writeFile("ampc_kernels.h", types))) {
    return failure();
  }
  for (auto [i, kernel] :
       llvm::enumerate(compilation.getModule().getOps<amp::KernelOp>())) {
    if (failed(writeKernel(i, kernel))) {
      return failure();
    }
  }
  json::Object index{{"version", 1},
                     {"producer", producer},
                     {"source", json::fixUTF8(options.model)},
                     {"kernels", std::move(entries)}};
  return writeFile(
      "index.json",
      llvm::formatv("{0:2}\n", json::Value(std::move(index))).str());
}

LogicalResult writeKernels(Compilation &compilation) {
  return KernelFolder(compilation).write();
}

} // namespace ampc::driver
