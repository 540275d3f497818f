//===- Driver.cpp - The ampc program as a function ------------------------===//
#include "compiler/Driver/Driver.h"

#include "compiler/Driver/Commands.h"
#include "compiler/Driver/CrashHandler.h"
#include "compiler/Driver/GeneratedDocs.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ampc::driver {

/// Runs the command; 0 stands for "as the sink says".
static int dispatch(const Options &options, DiagnosticSink &sink) {
  switch (options.command) {
  case Command::Compile:
    (void)compileCommand(options, sink);
    return 0;
  case Command::Bench:
    if (StringRef(options.amp).contains(',') || options.json ||
        options.benchSteps) {
      (void)(options.train ? trainingTableCommand(options, sink)
                           : benchTableCommand(options, sink));
      return 0;
    }
    return programCommand(options, sink);
  case Command::Run:
    return programCommand(options, sink);
  case Command::Verify:
    if (!options.suite.empty()) {
      return suiteCommand(options, sink);
    }
    (void)verifyCommand(options, sink);
    return 0;
  case Command::Compare:
    (void)compareCommand(options, sink);
    return 0;
  case Command::Tune:
    (void)tuneCommand(options, sink);
    return 0;
  case Command::Explain:
    (void)explainCommand(options, sink);
    return 0;
  case Command::Inspect:
    (void)inspectCommand(options, sink);
    return 0;
  case Command::Ops:
    (void)opsCommand(options, sink);
    return 0;
  case Command::Devices:
    (void)devicesCommand(options, sink);
    return 0;
  }
  llvm_unreachable("not a command");
}

int runDriver(ArrayRef<const char *> args, raw_ostream &errors) {
  DiagnosticSink sink(errors, findDiagnosticForm(args));
  Options options = parseOptions(args, sink);
  int code = 0;
  if (sink.getNumErrors() == 0) {
    sink.setForm(options.diagnostics);
    sink.setQuiet(options.quiet);
    if (options.help || options.helpAll) {
      printHelp(outs(), options.command, options.helpAll);
    } else if (options.version) {
      printVersion(outs());
    } else if (!options.generate.empty()) {
      printGenerated(options.generate, outs());
    } else {
      code = dispatch(options, sink);
    }
  }
  outs().flush();
  if (outs().has_error()) {
    (void)sink.error(ExitCode::InputOutput,
                     "cannot write to standard output: " +
                         outs().error().message());
    outs().clear_error();
  }
  sink.finish();
  return sink.getNumErrors() != 0 ? static_cast<int>(sink.getExitCode()) : code;
}

int ampcMain(int argc, char **argv) {
  SmallVector<const char *> args(argv + 1, argv + argc);
  static std::string commandLine;
  commandLine = "ampc " + join(args, " ");
  installCrashHandler(commandLine.c_str());
  if (args.empty()) {
    printHelp(errs(), Command::Compile, /*all=*/false);
    return static_cast<int>(ExitCode::Usage);
  }
  return runDriver(args, errs());
}

} // namespace ampc::driver
