//===- Commands.h - What each command does --------------------------------===//
//
// Every command reports to the sink; the sink knows the exit code.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_COMMANDS_H
#define AMPC_COMPILER_DRIVER_COMMANDS_H

#include "compiler/Driver/DiagnosticSink.h"

namespace ampc::driver {

class Compilation;

/// Writes the artifact or text that --emit and --compile-to ask for.
llvm::LogicalResult compileCommand(const Options &options,
                                   DiagnosticSink &sink);

/// Compiles in memory and hands over to the command line of the program;
/// returns the exit code.
int programCommand(const Options &options, DiagnosticSink &sink);

/// Measures several precisions and prints one table: of predictions, or of
/// training steps.
llvm::LogicalResult benchTableCommand(const Options &options,
                                      DiagnosticSink &sink);
llvm::LogicalResult trainingTableCommand(const Options &options,
                                         DiagnosticSink &sink);

/// Compares the outputs of a program with those of a data set.
llvm::LogicalResult verifyCommand(const Options &options, DiagnosticSink &sink);

/// Verifies each test of a list in a process of its own; returns the exit code.
int suiteCommand(const Options &options, DiagnosticSink &sink);

/// Compares mixed precision with fp32, node by node.
llvm::LogicalResult compareCommand(const Options &options,
                                   DiagnosticSink &sink);

/// Searches for the nodes that have to stay in fp32 and writes a policy file.
llvm::LogicalResult tuneCommand(const Options &options, DiagnosticSink &sink);

llvm::LogicalResult explainCommand(const Options &options,
                                   DiagnosticSink &sink);
llvm::LogicalResult inspectCommand(const Options &options,
                                   DiagnosticSink &sink);
llvm::LogicalResult opsCommand(const Options &options, DiagnosticSink &sink);
llvm::LogicalResult devicesCommand(const Options &options,
                                   DiagnosticSink &sink);

/// Writes the program that `compilation` has brought to the memory phase as an
/// executable, library or object.
llvm::LogicalResult writeArtifact(Compilation &compilation);
/// Writes the folder of --emit=kernels.
llvm::LogicalResult writeKernels(Compilation &compilation);

/// Writes the original model with the types that the precision phase decided.
llvm::LogicalResult writeModel(Compilation &compilation);

/// Runs one command line, the program's name left out; returns the exit code.
int runDriver(llvm::ArrayRef<const char *> args, llvm::raw_ostream &errors);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_COMMANDS_H
