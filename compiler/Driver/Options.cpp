//===- Options.cpp - Parse the command line -------------------------------===//
#include "compiler/Driver/Options.h"

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Driver/OptionTable.h"
#include "compiler/Driver/OptionValues.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
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
  case Command::Compare:
    return "compare";
  case Command::Tune:
    return "tune";
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
      .Case("compare", Command::Compare)
      .Case("tune", Command::Tune)
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
  unsigned shift =
      StringSwitch<unsigned>(text.drop_front(digits.size()).lower())
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
                     "unknown option '" + spelling.split('=').first + "'",
                     hint);
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
  bool takesNode = options.command == Command::Explain ||
                   options.command == Command::Compare;
  size_t most = takesNode ? 2 : options.command == Command::Devices ? 0 : 1;
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
      !options.generate.empty() || sink.getNumErrors() != 0) {
    return;
  }
  bool isSuite = options.command == Command::Verify && !options.suite.empty();
  bool needsModel =
      options.command != Command::Devices &&
      (options.command != Command::Ops || options.unsupportedOnly) && !isSuite;
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
  if (options.command == Command::Tune) {
    for (auto [isMissing, what] :
         {std::pair(options.data.empty(), "--data=DIR"),
          std::pair(!options.tolerance.bound, "--max-error=METRIC:F"),
          std::pair(options.output.empty(), "an output file (-o FILE)")}) {
      if (isMissing) {
        (void)sink.error(ExitCode::Usage, Twine("expected ") + what);
      }
    }
  }
  if (options.command == Command::Compile) {
    bool isCalibrated = options.calibrate || options.amp == "auto";
    if (options.data.empty() &&
        (options.tolerance.bound || options.calibrate)) {
      (void)sink.error(ExitCode::Usage,
                       Twine(options.calibrate
                                 ? "--calibrate measures values"
                                 : "--max-error compares with fp32") +
                           " on inputs; expected --data=DIR");
    } else if (!options.data.empty() && !options.tolerance.bound &&
               !isCalibrated) {
      (void)sink.error(ExitCode::Usage,
                       "--data is for measuring; expected --max-error=METRIC:F "
                       "or --calibrate");
    }
  }
  if (options.command == Command::Compile && options.output.empty() &&
      !isTextKind(options.emit)) {
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
  bool areNames = true;
  for (const char *raw : rawArgs) {
    StringRef arg = raw;
    areNames &= arg != "--";
    if (!areNames || !arg.starts_with("--") ||
        !arg.split('=').first.contains('_')) {
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
                                          args.getArgString(missingIndex) +
                                          "'");
  }
  checkArgs(args, options.command, sink);
  readPositionals(args, options, sink);
  readOptionValues(args, options, sink);
  collectProgramArgs(args, options);
  checkWhole(options, sink);
  return options;
}

} // namespace ampc::driver
