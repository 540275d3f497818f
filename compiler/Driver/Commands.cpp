//===- Commands.cpp - compile, run, bench, explain, ops -------------------===//
#include "compiler/Driver/Commands.h"

#include "ampc/runtime.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/Jit.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Import/Import.h"
#include "passes/Precision/Report.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace ampc::driver {

static LogicalResult writeText(Compilation &compilation) {
  const Options &options = compilation.getOptions();
  StringRef path = options.output.empty() ? "-" : StringRef(options.output);
  if (options.emit == EmitKind::Mlir) {
    return writeFile(path, compilation.getSink(),
                     [&](raw_ostream &os) { compilation.printModule(os); });
  }
  SmallVector<char, 0> text;
  raw_svector_ostream os(text);
  CodeForm form =
      options.emit == EmitKind::Llvm ? CodeForm::LlvmIr : CodeForm::Assembly;
  if (failed(compilation.emitCode(form, compilation.getCodegenOptions(), os))) {
    return failure();
  }
  return writeFile(path, compilation.getSink(),
                   [&](raw_ostream &file) { file << os.str(); });
}

LogicalResult compileCommand(const Options &options, DiagnosticSink &sink) {
  if (!options.output.empty() && failed(checkWritable(options.output, sink))) {
    return failure();
  }
  bool isSame = false;
  if (!options.output.empty() && options.output != "-" &&
      !sys::fs::equivalent(options.model, options.output, isSame) && isSame) {
    return sink.error(ExitCode::Usage, "the output '" + options.output +
                                           "' is the model itself");
  }
  Compilation compilation(options, sink);
  Phase last =
      std::min(options.compileTo.value_or(Phase::Memory), Phase::Memory);
  if (failed(compilation.open()) || failed(compilation.run(last))) {
    return failure();
  }
  if (failed(isTextKind(options.emit) ? writeText(compilation) : writeArtifact(compilation))) {
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

LogicalResult explainCommand(const Options &options, DiagnosticSink &sink) {
  Compilation compilation(options, sink);
  if (failed(compilation.open()) || failed(compilation.run(Phase::Precision))) {
    return failure();
  }
  const precision::Report &report = *compilation.getPrecisionReport();
  if (report.ops.empty()) {
    return sink.error(ExitCode::Usage,
                      "mixed precision is off: every node keeps its types",
                      "choose a policy, such as --amp=bf16");
  }
  if (options.node.empty()) {
    if (options.json) {
      outs() << formatv("{0:2}\n", report.toJson());
    } else {
      report.print(outs());
    }
    return success();
  }
  Expected<GlobPattern> pattern = GlobPattern::create(options.node);
  if (!pattern) {
    return sink.error(ExitCode::Usage,
                      "expected a node name or glob, got '" + options.node +
                          "': " + toString(pattern.takeError()));
  }
  precision::Report chosen;
  auto matches = [&](ArrayRef<std::string> nodes) {
    return any_of(nodes, [&](StringRef node) { return pattern->match(node); });
  };
  copy_if(report.ops, std::back_inserter(chosen.ops),
          [&](const precision::OpDecision &op) { return matches(op.nodes); });
  copy_if(report.casts, std::back_inserter(chosen.casts),
          [&](const precision::CastDecision &cast) {
            return any_of(cast.uses, [&](const precision::CastUse &use) {
              return matches(use.nodes);
            });
          });
  if (chosen.ops.empty()) {
    return sink.error(ExitCode::Usage,
                      "no node is named '" + options.node + "'",
                      "ampc explain MODEL lists all nodes");
  }
  if (options.json) {
    outs() << formatv("{0:2}\n", chosen.toJson());
  } else {
    chosen.print(outs());
  }
  return success();
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
  std::vector<std::string> ops = importer::listSupportedOps();
  if (options.json) {
    outs() << formatv("{0:2}\n", json::Value(json::Array(ops)));
    return success();
  }
  for (StringRef op : ops) {
    outs() << op << '\n';
  }
  return success();
}

} // namespace ampc::driver
