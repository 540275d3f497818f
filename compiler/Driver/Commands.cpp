//===- Commands.cpp - compile, run, bench, ops ----------------------------===//
#include "compiler/Driver/Commands.h"

#include "ampc/runtime.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/ErrorCheck.h"
#include "compiler/Driver/Jit.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Import/Import.h"
#include "dialects/Interfaces/AutocastClass.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace ampc::driver {

static LogicalResult writeListing(Compilation &compilation) {
  const Options &options = compilation.getOptions();
  StringRef path = options.output.empty() ? "-" : StringRef(options.output);
  if (options.emit == EmitKind::Mlir) {
    return compilation.writeModule(path);
  }
  SmallVector<char, 0> text;
  raw_svector_ostream os(text);
  CodeForm form = options.emit == EmitKind::Llvm    ? CodeForm::LlvmIr
                  : options.emit == EmitKind::Cubin ? CodeForm::Cubin
                                                    : CodeForm::Assembly;
  if (failed(compilation.emitCode(form, compilation.getCodegenOptions(), os))) {
    return failure();
  }
  return writeFile(path, compilation.getSink(),
                   [&](raw_ostream &file) { file << os.str(); });
}

LogicalResult compileCommand(const Options &given, DiagnosticSink &sink) {
  Options options = given;
  if (!options.output.empty() && failed(checkWritable(options.output, sink))) {
    return failure();
  }
  bool isSame = false;
  if (!options.output.empty() && options.output != "-" &&
      !sys::fs::equivalent(options.model, options.output, isSame) && isSame) {
    return sink.error(ExitCode::Usage, "the output '" + options.output +
                                           "' is the model itself");
  }
  bool isCalibrated = options.calibrate || options.amp == "auto";
  if (isCalibrated && !options.data.empty() &&
      failed(calibrate(options, sink))) {
    return failure();
  }
  Certificate certificate;
  if (options.tolerance.bound &&
      failed(checkMaxError(options, sink, certificate))) {
    return failure();
  }
  Compilation compilation(options, sink);
  bool isModel = options.emit == EmitKind::Onnx;
  bool isListing = isTextKind(options.emit) || options.emit == EmitKind::Cubin;
  Phase last = isModel ? Phase::Precision
                       : std::min(options.compileTo.value_or(Phase::Memory),
                                  Phase::Memory);
  if (failed(compilation.open()) || failed(compilation.run(last))) {
    return failure();
  }
  if (certificate.isEmpty() && !options.precisionCertificate.empty()) {
    certificate = Certificate::fromPolicy(compilation);
  }
  compilation.setCertificate(certificate.toJson());
  LogicalResult written = isModel     ? writeModel(compilation)
                          : isListing ? writeListing(compilation)
                          : options.emit == EmitKind::Kernels
                              ? writeKernels(compilation)
                              : writeArtifact(compilation);
  if (failed(written)) {
    return failure();
  }
  if (options.timeReport) {
    compilation.getTimer().print(errs());
  }
  return success();
}

int programCommand(const Options &options, DiagnosticSink &sink) {
  Compilation compilation(options, sink);
  if (failed(compilation.open()) || failed(compilation.run(Phase::Memory))) {
    return 0;
  }
  std::unique_ptr<LoadedProgram> program = LoadedProgram::load(compilation);
  if (!program) {
    return 0;
  }
  if (options.timeReport) {
    compilation.getTimer().print(errs());
  }
  std::vector<std::string> args = {"ampc",
                                   getCommandName(options.command).str()};
  args.insert(args.end(), options.programArgs.begin(),
              options.programArgs.end());
  if (options.command == Command::Bench && options.train) {
    args.push_back("--step");
  }
  if (options.quiet) {
    args.push_back("--quiet");
  }
  SmallVector<char *> argv;
  for (std::string &arg : args) {
    argv.push_back(arg.data());
  }
  outs().flush();
  return ampc_program_main(static_cast<int>(argv.size()), argv.data(),
                           &program->get());
}

LogicalResult opsCommand(const Options &options, DiagnosticSink &sink) {
  if (options.unsupportedOnly) {
    // The importer reports all that is missing at once.
    Compilation compilation(options, sink);
    if (failed(compilation.open()) || failed(compilation.run(Phase::Import))) {
      return failure();
    }
    outs() << "everything in '" << options.model << "' is supported\n";
    return success();
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<amp::AmpDialect>();
  std::vector<importer::SupportedOp> ops = importer::listSupportedOps(&context);
  auto getClass = [](const importer::SupportedOp &op) {
    return op.autocastClass ? stringifyAutocastClass(*op.autocastClass)
                            : StringRef("-");
  };
  if (options.json) {
    json::Array rows;
    for (const importer::SupportedOp &op : ops) {
      json::Object row{{"op", op.name}, {"first_opset", op.firstOpset}};
      if (op.lastOpset != INT64_MAX) {
        row["last_opset"] = op.lastOpset;
      }
      row["class"] = op.autocastClass ? json::Value(getClass(op)) : nullptr;
      rows.push_back(std::move(row));
    }
    outs() << formatv("{0:2}\n", json::Value(std::move(rows)));
    return success();
  }
  size_t width = 0;
  for (const importer::SupportedOp &op : ops) {
    width = std::max(width, op.name.size());
  }
  outs() << left_justify("operator", width) << "  class    opset\n";
  for (const importer::SupportedOp &op : ops) {
    outs() << left_justify(op.name, width) << "  "
           << left_justify(getClass(op), 7) << "  " << op.firstOpset << "-";
    if (op.lastOpset != INT64_MAX) {
      outs() << op.lastOpset;
    }
    outs() << '\n';
  }
  return success();
}

} // namespace ampc::driver
