//===- OptionTable.h - The generated option table -------------------------===//
#ifndef AMPC_COMPILER_DRIVER_OPTIONTABLE_H
#define AMPC_COMPILER_DRIVER_OPTIONTABLE_H

#include "compiler/Driver/Options.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"

namespace ampc::driver {

// Names that Options.td refers to. LLVM keeps the lower bits to itself.
enum OptionFlags { CommonOption = 1 << 4, ProgramOption = 1 << 5 };
enum OptionVisibilities {
  CompileVis = 1 << 1,
  RunVis = 1 << 2,
  VerifyVis = 1 << 3,
  BenchVis = 1 << 4,
  ExplainVis = 1 << 5,
  InspectVis = 1 << 6,
  OpsVis = 1 << 7,
  DevicesVis = 1 << 8,
  CompareVis = 1 << 9,
  TuneVis = 1 << 10,
};

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "compiler/Driver/Options.inc"
#undef OPTION
};

/// The table that Options.td describes.
const llvm::opt::OptTable &getOptionTable();

/// How a command is called; possibly several lines.
llvm::StringRef getUsage(Command command);

/// The visibility bit of a command's options.
unsigned getVisibility(Command command);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_OPTIONTABLE_H
