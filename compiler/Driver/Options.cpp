//===- Options.cpp - Parse the command line -------------------------------===//
#include "compiler/Driver/Options.h"

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Driver/OptionTable.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;
using namespace llvm::opt;

namespace ampc::driver {

StringRef getCommandName(Command command) {
  switch (command) {
  case Command::Compile:
    return "compile";
  case Command::Run:
    return "run";
  case Command::Verify:
    return "verify";
  case Command::Bench:
    return "bench";
  case Command::Explain:
    return "explain";
  case Command::Inspect:
    return "inspect";
  case Command::Ops:
    return "ops";
  case Command::Devices:
    return "devices";
  }
  llvm_unreachable("not a command");
}

static std::optional<Command> symbolizeCommand(StringRef name) {
  return StringSwitch<std::optional<Command>>(name)
      .Case("compile", Command::Compile)
      .Case("run", Command::Run)
      .Case("verify", Command::Verify)
      .Case("bench", Command::Bench)
      .Case("explain", Command::Explain)
      .Case("inspect", Command::Inspect)
      .Case("ops", Command::Ops)
      .Case("devices", Command::Devices)
      .Default(std::nullopt);
}

DiagnosticForm findDiagnosticForm(ArrayRef<const char *> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i];
    if (arg == "--diagnostics=json" ||
        (arg == "--diagnostics" && i + 1 < args.size() &&
         StringRef(args[i + 1]) == "json")) {
      return DiagnosticForm::Json;
    }
  }
  return DiagnosticForm::Text;
}

std::optional<uint64_t> parseSize(StringRef text) {
  StringRef digits = text.take_while([](char c) { return isDigit(c); });
  unsigned shift = StringSwitch<unsigned>(text.drop_front(digits.size()).lower())
                       .Cases({"", "b"}, 0)
                       .Cases({"k", "kb", "kib"}, 10)
                       .Cases({"m", "mb", "mib"}, 20)
                       .Cases({"g", "gb", "gib"}, 30)
                       .Cases({"t", "tb", "tib"}, 40)
                       .Default(64);
  uint64_t value;
  if (shift == 64 || digits.getAsInteger(10, value) ||
      (shift != 0 && value >> (64 - shift) != 0)) {
    return std::nullopt;
  }
  return value << shift;
}

namespace {

/// Turns parsed arguments into Options, reporting what has a wrong form.
class OptionReader {
public:
  OptionReader(const InputArgList &args, DiagnosticSink &sink)
      : args(args), sink(sink) {}

  void read(Options &options);

private:
  std::string text(OptSpecifier id, StringRef otherwise = "") {
    return args.getLastArgValue(id, otherwise).str();
  }
  bool has(OptSpecifier id) { return args.hasArg(id); }
  LogicalResult bad(const Arg &arg, const Twine &expected) {
    StringRef spelling = arg.getSpelling();
    spelling.consume_back("=");
    return sink.error(ExitCode::Usage, Twine(spelling) + ": expected " +
                                           expected + ", got '" +
                                           arg.getValue() + "'");
  }
  std::string oneOf(OptSpecifier id, ArrayRef<StringRef> values,
                    StringRef otherwise);
  void readUnsigned(OptSpecifier id, unsigned &value, unsigned lowest,
                    unsigned highest);
  void readDouble(OptSpecifier id, double &value);
  void readSize(OptSpecifier id, std::optional<uint64_t> &value);
  void readEmit(Options &options);
  void readAmp(Options &options);
  void readShapes(Options &options);
  void readDimParams(Options &options);
  void readBindings(Options &options);
  void readMaxError(Tolerance &tolerance);

  const InputArgList &args;
  DiagnosticSink &sink;
};

} // namespace

std::string OptionReader::oneOf(OptSpecifier id, ArrayRef<StringRef> values,
                                StringRef otherwise) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return otherwise.str();
  }
  std::string value = StringRef(arg->getValue()).lower();
  if (!is_contained(values, value)) {
    (void)bad(*arg, "one of " + join(values, ", "));
  }
  return value;
}

void OptionReader::readUnsigned(OptSpecifier id, unsigned &value,
                                unsigned lowest, unsigned highest) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  if (StringRef(arg->getValue()).getAsInteger(10, value) || value < lowest ||
      value > highest) {
    (void)bad(*arg, "a number from " + Twine(lowest) + " to " + Twine(highest));
  }
}

void OptionReader::readDouble(OptSpecifier id, double &value) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  if (!to_float(StringRef(arg->getValue()), value) || !(value >= 0)) {
    (void)bad(*arg, "a number that is not negative");
  }
}

void OptionReader::readSize(OptSpecifier id, std::optional<uint64_t> &value) {
  const Arg *arg = args.getLastArg(id);
  if (!arg) {
    return;
  }
  value = parseSize(arg->getValue());
  if (!value) {
    (void)bad(*arg, "a size such as 4096, 512M or 8G");
  }
}

void OptionReader::readEmit(Options &options) {
  std::string emit =
      oneOf(OPT_emit, {"exe", "lib", "obj", "mlir", "llvm", "asm"}, "exe");
  options.emit = StringSwitch<EmitKind>(emit)
                     .Case("lib", EmitKind::Lib)
                     .Case("obj", EmitKind::Obj)
                     .Case("mlir", EmitKind::Mlir)
                     .Case("llvm", EmitKind::Llvm)
                     .Case("asm", EmitKind::Asm)
                     .Default(EmitKind::Exe);
  if (const Arg *arg = args.getLastArg(OPT_compile_from)) {
    options.compileFrom = symbolizePhase(arg->getValue());
    if (!options.compileFrom || *options.compileFrom == Phase::Training ||
        *options.compileFrom == Phase::Codegen) {
      (void)bad(*arg, "one of import, graph, precision, fusion, memory");
    }
  }
  const Arg *arg = args.getLastArg(OPT_compile_to);
  if (!arg) {
    return;
  }
  options.compileTo = symbolizePhase(arg->getValue());
  if (!options.compileTo || *options.compileTo == Phase::Training) {
    (void)bad(*arg, "one of import, graph, precision, fusion, memory, codegen");
  } else if (*options.compileTo != Phase::Codegen) {
    if (has(OPT_emit) && options.emit != EmitKind::Mlir) {
      (void)sink.error(ExitCode::Usage,
                       Twine("--emit=") + emit + " needs the phase codegen, but "
                       "--compile-to=" + stringifyPhase(*options.compileTo) +
                       " stops before it");
    }
    options.emit = EmitKind::Mlir;
  }
}

void OptionReader::readAmp(Options &options) {
  static constexpr StringRef policies[] = {"auto", "off",       "fp16",
                                           "bf16", "pure-fp16", "pure-bf16"};
  const Arg *arg = args.getLastArg(OPT_amp);
  if (!arg || options.command != Command::Bench) {
    options.amp = oneOf(OPT_amp, policies, "auto");
    return;
  }
  // bench compares several.
  options.amp = StringRef(arg->getValue()).lower();
  for (StringRef amp : split(options.amp, ',')) {
    if (!is_contained(policies, amp)) {
      (void)bad(*arg, "some of " + llvm::join(llvm::ArrayRef(policies), ", "));
    }
  }
}

void OptionReader::readShapes(Options &options) {
  for (const Arg *arg : args.filtered(OPT_shapes)) {
    for (StringRef item : split(arg->getValue(), ',')) {
      // Names may hold colons (`input:0`); shapes do not.
      auto [name, text] = item.rsplit(':');
      SmallVector<int64_t> dims;
      bool isGood = item.contains(':') && !name.empty();
      if (!text.empty() && text != "scalar") {
        for (StringRef dim : split(text, 'x')) {
          int64_t value = -1;
          isGood &= !dim.getAsInteger(10, value) && value >= 0;
          dims.push_back(value);
        }
      }
      if (!isGood) {
        (void)bad(*arg, "NAME:1x3x224x224,...");
        return;
      }
      options.shapes.emplace_back(name.str(), std::move(dims));
    }
  }
}

void OptionReader::readDimParams(Options &options) {
  for (const Arg *arg : args.filtered(OPT_dim_params)) {
    for (StringRef item : split(arg->getValue(), ',')) {
      auto [name, text] = item.rsplit('=');
      int64_t value;
      if (name.empty() || text.getAsInteger(10, value) || value < 0) {
        (void)bad(*arg, "NAME=SIZE,...");
        return;
      }
      options.dimParams.emplace_back(name.str(), value);
    }
  }
}

void OptionReader::readBindings(Options &options) {
  for (const Arg *arg : args.filtered(OPT_bind_input)) {
    auto [name, file] = StringRef(arg->getValue()).split("=@");
    bool hasSource = !file.empty() || options.command == Command::Verify;
    if (name.empty() || !hasSource) {
      (void)bad(*arg, "NAME=@FILE");
      continue;
    }
    options.bindings.push_back({name.str(), file.str()});
  }
}

void OptionReader::readMaxError(Tolerance &tolerance) {
  const Arg *arg = args.getLastArg(OPT_max_error);
  if (!arg) {
    return;
  }
  auto [metric, text] = StringRef(arg->getValue()).split(':');
  double value;
  if (metric != "frobenius" || !to_float(text, value) || !(value >= 0)) {
    (void)bad(*arg, "frobenius:VALUE");
    return;
  }
  tolerance.frobenius = value;
}

void OptionReader::read(Options &options) {
  options.output = text(OPT_output);
  readEmit(options);
  options.dumpPhasesTo = text(OPT_dump_phases_to);
  options.saveTemps = text(OPT_save_temps);
  std::optional<uint64_t> elide = options.elideAbove;
  readSize(OPT_elide_above, elide);
  options.elideAbove = elide.value_or(0);

  std::string target = oneOf(OPT_target, {"cpu", "cuda"}, "cpu");
  if (target == "cuda") {
    (void)sink.error(ExitCode::Unsupported,
                     "unsupported target 'cuda': this build of ampc compiles "
                     "for cpu");
  }
  options.march = text(OPT_march, "native");
  readUnsigned(OPT_opt_level, options.optLevel, 0, 3);
  readUnsigned(OPT_jobs, options.jobs, 1, 1024);

  readAmp(options);
  options.layerPrecisions = text(OPT_layer_precisions);
  options.opPrecisions = text(OPT_op_precisions);
  options.strictRounding = has(OPT_strict_rounding);
  options.normOutput = oneOf(OPT_norm_output, {"follow", "fp32"}, "follow");
  options.precisionReport = text(OPT_precision_report);

  readShapes(options);
  readDimParams(options);
  readBindings(options);
  readSize(OPT_max_nodes, options.maxNodes);

  readSize(OPT_memory_limit, options.memoryLimit);
  options.memoryReport = text(OPT_memory_report);
  options.externalWeights = text(OPT_external_weights, "auto");

  options.data = text(OPT_data);
  options.suite = text(OPT_suite);
  readUnsigned(OPT_suite_timeout, options.suiteTimeout, 1, 86400);
  readDouble(OPT_rtol, options.tolerance.rtol);
  readDouble(OPT_atol, options.tolerance.atol);
  readMaxError(options.tolerance);
  readUnsigned(OPT_threads, options.threads, 1, 1024);

  options.unsupportedOnly = has(OPT_unsupported);
  options.json = has(OPT_json);
  options.diagnostics = oneOf(OPT_diagnostics, {"text", "json"}, "text") == "json"
                            ? DiagnosticForm::Json
                            : DiagnosticForm::Text;
  options.timeReport = has(OPT_time_report);
  options.mlirTiming = has(OPT_mlir_timing);
  options.verifyEach = has(OPT_verify_each);
  options.printIr = has(OPT_print_ir);
  options.quiet = has(OPT_quiet);
  options.verbose = has(OPT_verbose);
  options.help = has(OPT_help);
  options.helpAll = has(OPT_help_all);
  options.version = has(OPT_version);
}

/// Reports options nobody knows, with the nearest one, and options of another
/// command.
static void checkArgs(const InputArgList &args, Command command,
                      DiagnosticSink &sink) {
  const OptTable &table = getOptionTable();
  unsigned visible = getVisibility(command);
  for (const Arg *arg : args.filtered(OPT_UNKNOWN)) {
    StringRef spelling = arg->getSpelling();
    std::string nearest;
    std::string hint;
    if (table.findNearest(spelling, nearest, Visibility(visible)) <= 3) {
      // The table's spelling ends in '=' where a value follows.
      StringRef name = StringRef(nearest).split('=').first;
      hint = ("did you mean '" + name + "'?").str();
    }
    (void)sink.error(ExitCode::Usage,
                     "unknown option '" + spelling.split('=').first + "'", hint);
  }
  for (const Arg *arg : args) {
    const Option &option = arg->getOption();
    bool isOption = option.getKind() != Option::InputClass &&
                    option.getKind() != Option::UnknownClass;
    if (isOption && !option.hasVisibilityFlag(visible)) {
      StringRef name = arg->getSpelling();
      name.consume_back("=");
      (void)sink.error(ExitCode::Usage, "option '" + Twine(name) +
                                            "' does not apply to 'ampc " +
                                            getCommandName(command) + "'");
    }
  }
}

/// What the compiled program shall parse, spelt as it was found.
static void collectProgramArgs(const InputArgList &args, Options &options) {
  for (const Arg *arg : args) {
    const Option option = arg->getOption().getUnaliasedOption();
    bool isDataSet =
        option.matches(OPT_data) && options.command == Command::Run;
    if (!option.hasFlag(ProgramOption) && !isDataSet) {
      continue;
    }
    std::string text = option.getPrefixedName().str();
    if (arg->getNumValues() != 0) {
      text += arg->getValue();
    }
    options.programArgs.push_back(std::move(text));
  }
}

static void readPositionals(const InputArgList &args, Options &options,
                            DiagnosticSink &sink) {
  std::vector<std::string> positionals = args.getAllArgValues(OPT_INPUT);
  size_t most = options.command == Command::Explain ? 2
                : options.command == Command::Devices ? 0
                                                      : 1;
  if (positionals.size() > most) {
    (void)sink.error(ExitCode::Usage,
                     "unexpected argument '" + positionals[most] + "'");
  }
  if (!positionals.empty()) {
    options.model = positionals[0];
  }
  if (positionals.size() > 1) {
    options.node = positionals[1];
  }
}

/// Checks what only the whole command line shows.
static void checkWhole(const Options &options, DiagnosticSink &sink) {
  if (options.help || options.helpAll || options.version ||
      sink.getNumErrors() != 0) {
    return;
  }
  bool isSuite = options.command == Command::Verify && !options.suite.empty();
  bool needsModel = options.command != Command::Devices &&
                    (options.command != Command::Ops || options.unsupportedOnly) &&
                    !isSuite;
  if (needsModel && options.model.empty()) {
    (void)sink.error(ExitCode::Usage, "expected a model",
                     "ampc --help shows how to call ampc");
  }
  if (isSuite && (!options.model.empty() || !options.data.empty())) {
    (void)sink.error(ExitCode::Usage,
                     "--suite names models and data itself; expected no other");
  }
  if (options.command == Command::Verify && !isSuite && options.data.empty()) {
    (void)sink.error(ExitCode::Usage, "expected --data=DIR");
  }
  bool isText = options.emit == EmitKind::Mlir ||
                options.emit == EmitKind::Llvm || options.emit == EmitKind::Asm;
  if (options.command == Command::Compile && options.output.empty() && !isText) {
    (void)sink.error(ExitCode::Usage, "expected an output file (-o FILE)");
  }
}

Options parseOptions(ArrayRef<const char *> rawArgs, DiagnosticSink &sink) {
  Options options;
  if (!rawArgs.empty()) {
    if (auto command = symbolizeCommand(rawArgs.front())) {
      options.command = *command;
      rawArgs = rawArgs.drop_front();
    }
  }
  // `_` and `-` are equal in the names of long options.
  BumpPtrAllocator allocator;
  StringSaver saver(allocator);
  SmallVector<const char *> normalized;
  for (const char *raw : rawArgs) {
    StringRef arg = raw;
    if (!arg.starts_with("--") || !arg.split('=').first.contains('_')) {
      normalized.push_back(raw);
      continue;
    }
    std::string text = arg.str();
    size_t nameEnd = std::min(text.find('='), text.size());
    std::replace(text.begin(), text.begin() + nameEnd, '_', '-');
    normalized.push_back(saver.save(text).data());
  }

  unsigned missingIndex = 0, missingCount = 0;
  InputArgList args =
      getOptionTable().ParseArgs(normalized, missingIndex, missingCount);
  if (missingCount != 0) {
    (void)sink.error(ExitCode::Usage, Twine("expected a value after '") +
                                          args.getArgString(missingIndex) + "'");
  }
  checkArgs(args, options.command, sink);
  readPositionals(args, options, sink);
  OptionReader(args, sink).read(options);
  collectProgramArgs(args, options);
  checkWhole(options, sink);
  return options;
}

} // namespace ampc::driver
