//===- OptionTable.cpp - The option table and its help --------------------===//
#include "compiler/Driver/OptionTable.h"

#include "compiler/Driver/Version.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;

namespace ampc::driver {

#define OPTTABLE_STR_TABLE_CODE
#include "compiler/Driver/Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "compiler/Driver/Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

static constexpr OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "compiler/Driver/Options.inc"
#undef OPTION
};

namespace {
class AmpcOptTable : public GenericOptTable {
public:
  AmpcOptTable()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, optionInfos) {
    setDashDashParsing(true);
  }
};
} // namespace

const OptTable &getOptionTable() {
  static const AmpcOptTable table;
  return table;
}

unsigned getVisibility(Command command) {
  switch (command) {
  case Command::Compile:
    return CompileVis;
  case Command::Run:
    return RunVis;
  case Command::Verify:
    return VerifyVis;
  case Command::Bench:
    return BenchVis;
  case Command::Explain:
    return ExplainVis;
  case Command::Inspect:
    return InspectVis;
  case Command::Ops:
    return OpsVis;
  case Command::Devices:
    return DevicesVis;
  case Command::Compare:
    return CompareVis;
  case Command::Tune:
    return TuneVis;
  }
  llvm_unreachable("not a command");
}

StringRef getUsage(Command command) {
  switch (command) {
  case Command::Compile:
    return "ampc MODEL.onnx -o OUT [options]\n"
           "       ampc "
           "run|verify|bench|explain|compare|tune|inspect|ops|devices "
           "... (ampc COMMAND --help)";
  case Command::Run:
    return "ampc run MODEL.onnx --input=[NAME=]@FILE [options]";
  case Command::Verify:
    return "ampc verify MODEL.onnx --data=DIR [options]\n"
           "       ampc verify --suite=LISTFILE [-j N] [options]";
  case Command::Bench:
    return "ampc bench MODEL.onnx [options]";
  case Command::Explain:
    return "ampc explain MODEL.onnx [NODE] [options]";
  case Command::Inspect:
    return "ampc inspect FILE [options]";
  case Command::Ops:
    return "ampc ops [--unsupported MODEL.onnx]";
  case Command::Devices:
    return "ampc devices [--json]";
  case Command::Compare:
    return "ampc compare MODEL.onnx [NODE] --amp=TYPE [--data=DIR] [options]";
  case Command::Tune:
    return "ampc tune MODEL.onnx --amp=TYPE --data=DIR --max-error=METRIC:F -o "
           "POLICY.json [options]";
  }
  llvm_unreachable("not a command");
}

static constexpr StringLiteral examples =
    R"(  ampc resnet50.onnx -o resnet50                 a program for this machine's CPU
  ampc bert.onnx -o bert --amp=bf16 --shapes=input_ids:1x128
  ampc run model.onnx --input=x=@x.npy --output=y=@y.npy
  ampc verify model.onnx --data=test_data_set_0 --rtol=1e-3
  ampc model.onnx -o libmodel.so --emit=lib      a shared library and libmodel.so.h
)";

/// `--name=METAVAR` of an option, or empty for aliases and groups.
static std::string getHelpName(const OptTable &table, const Option &option) {
  bool isListed = option.getKind() != Option::GroupClass &&
                  option.getKind() != Option::InputClass &&
                  option.getKind() != Option::UnknownClass &&
                  !option.getAlias().isValid();
  if (!isListed || !table.getOptionHelpText(option.getID())) {
    return "";
  }
  std::string name = option.getPrefixedName().str();
  if (const char *metavar = table.getOptionMetaVar(option.getID())) {
    name += metavar;
  }
  return name;
}

void printHelp(raw_ostream &os, Command command, bool all) {
  const OptTable &table = getOptionTable();
  os << "usage: " << getUsage(command) << '\n';
  if (command == Command::Compile) {
    os << "\nexamples:\n" << examples;
  }
  constexpr size_t column = 32;
  // Groups in the order of the table, which is that of their names.
  MapVector<unsigned, std::string> groups;
  for (unsigned id = 1; id <= table.getNumOptions(); ++id) {
    const Option option = table.getOption(id);
    std::string name = getHelpName(table, option);
    bool isCommon =
        option.hasFlag(CommonOption) ||
        (command != Command::Compile && option.hasFlag(ProgramOption));
    if (name.empty() || !option.hasVisibilityFlag(getVisibility(command)) ||
        (!all && !isCommon)) {
      continue;
    }
    raw_string_ostream line(groups[all ? table.getOptionGroupID(id) : 0]);
    line << "  " << name;
    if (name.size() + 2 >= column) {
      line << '\n';
      line.indent(column);
    } else {
      line.indent(column - 2 - name.size());
    }
    line << table.getOptionHelpText(id) << '\n';
  }
  for (const auto &[group, lines] : groups) {
    os << '\n'
       << (group == 0 ? StringRef("options") : table.getOptionName(group))
       << ":\n"
       << lines;
  }
  if (!all) {
    os << "\n--help-all shows all options.\n";
  }
}

void printVersion(raw_ostream &os) {
  os << "ampc " << versionText << '\n'
     << "  revision: " << revisionText << '\n'
     << "  LLVM: " << LLVM_VERSION_STRING << '\n'
     << "  targets: cpu (x86-64)\n";
}

} // namespace ampc::driver
