//===- ProgramKernels.cpp - The GPU kernels of a compiled program ---------===//
#include "compiler/Driver/KernelReport.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Targets/CUDA/Assembler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace ampc::driver {

namespace {

/// Reads what a program says of itself and the code that it wrote.
class ProgramReader {
public:
  ProgramReader(StringRef folder, DiagnosticSink &sink)
      : folder(folder), sink(sink) {}

  FailureOr<KernelReport> read(const json::Object &program);

private:
  /// The program is ours; what it prints wrongly is our defect.
  LogicalResult malformed(StringRef what) {
    return sink.error(ExitCode::Internal,
                      "the program's inspect prints no " + what);
  }
  LogicalResult readKernels(const json::Object &program, KernelReport &report);
  LogicalResult readImage(const json::Object &image, size_t index,
                          KernelReport &report);
  void readModules(StringRef kind, size_t image, size_t count);
  LogicalResult describe(const json::Object &launch, StringRef kind,
                         KernelVariantFacts &facts);

  StringRef folder;
  DiagnosticSink &sink;
  std::vector<std::string> modules; ///< of the image at hand
};

} // namespace

static uint64_t numberOf(const json::Object &object, StringRef key) {
  return static_cast<uint64_t>(object.getInteger(key).value_or(0));
}

static SmallVector<uint64_t> bytesOf(const json::Object &program,
                                     StringRef key) {
  SmallVector<uint64_t> sizes;
  if (const json::Array *tensors = program.getArray(key)) {
    for (const json::Value &tensor : *tensors) {
      if (const json::Object *object = tensor.getAsObject()) {
        sizes.push_back(numberOf(*object, "bytes"));
      }
    }
  }
  return sizes;
}

static void readSizes(const json::Object &from, StringRef key,
                      std::array<uint32_t, 3> &sizes) {
  const json::Array *array = from.getArray(key);
  for (size_t i = 0; array && i < sizes.size() && i < array->size(); ++i) {
    sizes[i] = (*array)[i].getAsUINT64().value_or(0);
  }
}

LogicalResult ProgramReader::readKernels(const json::Object &program,
                                         KernelReport &report) {
  const json::Array *kernels = program.getArray("kernels");
  const json::Array *nodes = program.getArray("nodes");
  if (!kernels || !nodes) {
    return malformed("kernels");
  }
  const json::Object *metadata = program.getObject("metadata");
  const json::Object *work =
      metadata ? metadata->getObject("kernel_work") : nullptr;
  for (const json::Value &value : *kernels) {
    const json::Object *kernel = value.getAsObject();
    if (!kernel || !kernel->getString("name")) {
      return malformed("names of kernels");
    }
    KernelFacts &facts = report.kernels.emplace_back();
    facts.name = kernel->getString("name")->str();
    const json::Array *params = kernel->getArray("params");
    for (size_t i = 0; params && i < params->size(); ++i) {
      if (const json::Object *param = (*params)[i].getAsObject()) {
        KernelParam &added = facts.params.emplace_back();
        added.bytes = numberOf(*param, "bytes");
        added.isOutput = param->getBoolean("output").value_or(false);
        facts.bytes += added.bytes;
      }
    }
    const json::Array *known = work ? work->getArray(facts.name) : nullptr;
    if (known && known->size() == 2) {
      facts.flops = (*known)[0].getAsUINT64().value_or(0);
      facts.bytes = (*known)[1].getAsUINT64().value_or(facts.bytes);
    }
    for (const json::Value &entry : *nodes) {
      const json::Object *node = entry.getAsObject();
      if (node && node->getString("kernel") == StringRef(facts.name)) {
        facts.nodes.push_back(node->getString("label").value_or("").str());
      }
    }
  }
  return success();
}

void ProgramReader::readModules(StringRef kind, size_t image, size_t count) {
  modules.clear();
  for (size_t i = 0; i < count; ++i) {
    SmallString<128> path(folder);
    sys::path::append(path, Twine(image) + "." + Twine(i) + "." + kind);
    auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    modules.push_back(file ? (*file)->getBuffer().str() : "");
  }
}

LogicalResult ProgramReader::describe(const json::Object &launch,
                                      StringRef kind,
                                      KernelVariantFacts &facts) {
  facts.symbol = launch.getString("symbol").value_or("").str();
  readSizes(launch, "grid", facts.grid);
  readSizes(launch, "block", facts.block);
  facts.dynamicSharedBytes = numberOf(launch, "shared_bytes");
  facts.workspaceBytes = numberOf(launch, "workspace_bytes");
  uint64_t module = numberOf(launch, "module");
  if (module >= modules.size() || modules[module].empty()) {
    return malformed("code of '" + facts.symbol + "'");
  }
  if (kind == "ptx") {
    facts.mix = cuda::readPtxMix(modules[module], facts.symbol);
    facts.products = cuda::findProductRate(modules[module], facts.symbol);
    return success();
  }
  auto kernels = cuda::readCubin(modules[module]);
  if (!kernels) {
    return sink.error(ExitCode::Invalid, "the program holds a broken cubin: " +
                                             toString(kernels.takeError()));
  }
  for (const cuda::KernelResources &resources : *kernels) {
    if (resources.symbol == facts.symbol) {
      facts.resources = resources;
    }
  }
  if (auto sass = cuda::disassemble(modules[module])) {
    facts.mix = cuda::readSassMix(*sass, facts.symbol);
    facts.isMixOfSass = true;
  }
  return success();
}

LogicalResult ProgramReader::readImage(const json::Object &image, size_t index,
                                       KernelReport &report) {
  StringRef kind = image.getString("kind").value_or("");
  StringRef name = image.getString("architecture").value_or("");
  const json::Array *launches = image.getArray("launches");
  if (!launches || launches->size() != report.kernels.size()) {
    return malformed("launches");
  }
  if (kind == "simulator") {
    return sink.error(ExitCode::Usage,
                      "--kernels: this program is for the simulator");
  }
  auto architecture = findCudaArchitecture(name);
  if (!architecture) {
    consumeError(architecture.takeError());
    return malformed("architecture that is known");
  }
  readModules(kind, index, numberOf(image, "modules"));
  for (auto [value, facts] : llvm::zip_equal(*launches, report.kernels)) {
    const json::Object *launch = value.getAsObject();
    KernelVariantFacts variant;
    variant.architecture = *architecture;
    if (!launch || failed(describe(*launch, kind, variant))) {
      return failure();
    }
    // A cubin does not tell what it multiplies; the PTX of the same kernel
    // does.
    bool isKnown = false;
    for (KernelVariantFacts &cubin : facts.variants) {
      if (kind == "ptx") {
        cubin.products = variant.products;
      }
      if (cubin.architecture == variant.architecture) {
        isKnown = true;
        cubin.mix = cubin.mix.total ? std::move(cubin.mix) : variant.mix;
      }
    }
    if (!isKnown) {
      facts.variants.push_back(std::move(variant));
    }
  }
  return success();
}

FailureOr<KernelReport> ProgramReader::read(const json::Object &program) {
  KernelReport report;
  report.memory = computeDeviceMemory(
      numberOf(program, "weights_bytes"), numberOf(program, "arena_bytes"),
      bytesOf(program, "inputs"), bytesOf(program, "outputs"));
  const json::Array *images = program.getArray("gpu");
  if (!images || images->empty()) {
    return sink.error(ExitCode::Usage,
                      "--kernels: this program is for the cpu; expected one "
                      "compiled with --target=cuda");
  }
  if (failed(readKernels(program, report))) {
    return failure();
  }
  for (auto [i, image] : enumerate(*images)) {
    const json::Object *object = image.getAsObject();
    if (!object || failed(readImage(*object, i, report))) {
      return failure();
    }
  }
  return report;
}

FailureOr<KernelReport> reportProgram(StringRef path, DiagnosticSink &sink) {
  TemporaryFolder folder;
  if (failed(folder.create("", sink))) {
    return failure();
  }
  std::string output = folder.getPath("inspect.json");
  std::string code = folder.getPath("code");
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(output),
                                          std::nullopt};
  auto run = [&](ArrayRef<StringRef> args) {
    std::string message;
    int result = sys::ExecuteAndWait(path, args, std::nullopt, redirects, 60, 0,
                                     &message);
    return result == 0
               ? success()
               : sink.error(result > 0 ? static_cast<ExitCode>(result)
                                       : ExitCode::Device,
                            "the program ended with exit code " +
                                Twine(result) + (message.empty() ? "" : ": ") +
                                message);
  };
  if (failed(run({path, "inspect", "--json"}))) {
    return failure();
  }
  auto read = [&]() -> Expected<json::Value> {
    auto file = MemoryBuffer::getFile(output);
    return file ? json::parse((*file)->getBuffer())
                : createStringError(file.getError().message());
  };
  Expected<json::Value> value = read();
  if (!value || !value->getAsObject()) {
    consumeError(value.takeError());
    return sink.error(ExitCode::Internal,
                      "the program's inspect prints no JSON");
  }
  const json::Object &program = *value->getAsObject();
  const json::Array *images = program.getArray("gpu");
  std::string option = "--export-code=" + code;
  if (images && !images->empty() &&
      failed(run({path, "inspect", "--json", option}))) {
    return failure();
  }
  auto report = ProgramReader(code, sink).read(program);
  if (succeeded(report)) {
    report->source = path.str();
  }
  return report;
}

} // namespace ampc::driver
