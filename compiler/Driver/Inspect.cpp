//===- Inspect.cpp - What a model or a program holds ----------------------===//
#include "compiler/Driver/Commands.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/ElfWriter.h"
#include "compiler/Driver/KernelReport.h"
#include "compiler/Driver/ModelFacts.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace ampc::driver {

static LogicalResult inspectKernels(const Options &options,
                                    FailureOr<KernelReport> report,
                                    DiagnosticSink &sink) {
  if (failed(report)) {
    return failure();
  }
  const Gpu *gpu = nullptr;
  if (!options.gpu.empty()) {
    auto found = findGpu(options.gpu);
    if (!found) {
      return sink.error(ExitCode::Usage,
                        "--gpu: " + toString(found.takeError()));
    }
    gpu = *found;
  }
  return printKernelReport(*report, gpu, options.json, outs(), sink);
}

/// A program describes itself. Only a file that carries ampc's note is run.
static LogicalResult inspectProgram(const Options &options,
                                    const MemoryBuffer &file,
                                    DiagnosticSink &sink) {
  StringRef note = findNote(file.getBuffer());
  if (note.empty()) {
    return sink.error(ExitCode::Invalid,
                      "expected a model or a program made by ampc");
  }
  if (!sys::fs::can_execute(options.model)) {
    outs() << options.model << ": made by " << note << ", no executable\n";
    return success();
  }
  SmallString<256> path(options.model);
  sys::fs::make_absolute(path);
  if (options.inspectKernels) {
    return inspectKernels(options, reportProgram(path, sink), sink);
  }
  SmallVector<StringRef> args = {path, "inspect"};
  if (options.json) {
    args.push_back("--json");
  }
  outs().flush();
  std::string message;
  int code = sys::ExecuteAndWait(path, args, std::nullopt, {}, 60, 0, &message);
  if (code != 0) {
    return sink.error(code > 0 ? static_cast<ExitCode>(code) : ExitCode::Device,
                      "the program ended with exit code " + Twine(code) +
                          (message.empty() ? "" : ": ") + message);
  }
  return success();
}

static void printTensors(StringRef title, ArrayRef<TensorFacts> tensors) {
  outs() << title << ":\n";
  for (const TensorFacts &tensor : tensors) {
    outs() << "  " << tensor.name << ": " << tensor.type << '\n';
  }
}

static json::Value toJson(ArrayRef<TensorFacts> tensors) {
  json::Array array;
  for (const TensorFacts &tensor : tensors) {
    array.push_back(json::Object{{"name", json::fixUTF8(tensor.name)},
                                 {"type", tensor.type},
                                 {"bytes", tensor.bytes}});
  }
  return array;
}

static void printFacts(const ModelFacts &facts) {
  printTensors("inputs", facts.inputs);
  printTensors("outputs", facts.outputs);
  outs() << formatv("parameters: {0} ({1} bytes)\n", facts.numParameters,
                    facts.parameterBytes)
         << formatv("FLOPs: {0} ({1:f3} G)\n", facts.flops, facts.flops * 1e-9)
         << formatv("activation bytes: {0}\n", facts.activationBytes)
         << formatv("operations: {0}\n", facts.numOps);
  for (const auto &[name, count] : facts.ops) {
    outs() << formatv("  {0,6} {1}\n", count, name);
  }
}

LogicalResult inspectCommand(const Options &options, DiagnosticSink &sink) {
  sink.setFile(options.model);
  file_magic magic;
  if (std::error_code error = identify_magic(options.model, magic)) {
    return sink.error(ExitCode::InputOutput, "cannot read: " + error.message());
  }
  if (magic.is_object()) {
    auto file = MemoryBuffer::getFile(options.model, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!file) {
      return sink.error(ExitCode::InputOutput,
                        "cannot read: " + file.getError().message());
    }
    return inspectProgram(options, **file, sink);
  }
  Compilation compilation(options, sink);
  Phase last = options.inspectKernels ? Phase::Memory : Phase::Import;
  if (failed(compilation.open()) || failed(compilation.run(last))) {
    return failure();
  }
  if (options.inspectKernels) {
    return inspectKernels(options, reportModel(compilation), sink);
  }
  ModelFacts facts = collectFacts(compilation.getModule());
  if (!options.json) {
    printFacts(facts);
    return success();
  }
  json::Object ops;
  for (const auto &[name, count] : facts.ops) {
    ops[name] = count;
  }
  json::Object object{{"inputs", toJson(facts.inputs)},
                      {"outputs", toJson(facts.outputs)},
                      {"parameters", facts.numParameters},
                      {"parameter_bytes", facts.parameterBytes},
                      {"activation_bytes", facts.activationBytes},
                      {"flops", facts.flops},
                      {"operations", facts.numOps},
                      {"ops", std::move(ops)}};
  outs() << formatv("{0:2}\n", json::Value(std::move(object)));
  return success();
}

} // namespace ampc::driver
