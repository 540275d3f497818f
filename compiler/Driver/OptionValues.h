//===- OptionValues.h - Check and convert the values of options -----------===//
#ifndef AMPC_COMPILER_DRIVER_OPTIONVALUES_H
#define AMPC_COMPILER_DRIVER_OPTIONVALUES_H

#include "compiler/Driver/DiagnosticSink.h"

namespace llvm::opt {
class InputArgList;
} // namespace llvm::opt

namespace ampc::driver {

/// Sets every option of `options` that has a value, but for positional ones.
/// `options.command` is known. A value of the wrong form is a usage error.
void readOptionValues(const llvm::opt::InputArgList &args, Options &options,
                      DiagnosticSink &sink);

/// Sets where compiled GPU kernels are kept.
void readCacheOptions(const llvm::opt::InputArgList &args, Options &options,
                      DiagnosticSink &sink);

/// Sets what is trained, and how.
void readTrainingOptions(const llvm::opt::InputArgList &args, Options &options,
                         DiagnosticSink &sink);

/// Reports architectures of --cuda-arch that are unknown (usage), that CUDA
/// dropped (unsupported), or that lack a type which the command line names
/// (usage).
llvm::LogicalResult checkCudaArchs(const Options &options,
                                   DiagnosticSink &sink);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_OPTIONVALUES_H
