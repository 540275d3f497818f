//===- ProgramRun.h - Run a program inside this process ---------*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_PROGRAMRUN_H
#define AMPC_COMPILER_DRIVER_PROGRAMRUN_H

#include "ampc/runtime.h"
#include "compiler/Driver/DataSet.h"
#include "compiler/Driver/Jit.h"

namespace ampc::driver {

/// A loaded program with a session.
class ProgramRun {
public:
  /// Loads what `compilation` has brought to the memory phase and opens a
  /// session; null after reporting.
  static std::unique_ptr<ProgramRun> create(Compilation &compilation);
  ~ProgramRun();
  ProgramRun(const ProgramRun &) = delete;
  ProgramRun &operator=(const ProgramRun &) = delete;

  const ampc_program &getProgram() const { return program->get(); }

  /// Runs once; `outputs` is filled with the bytes of each output.
  llvm::LogicalResult run(const DataSet &set,
                          std::vector<runtime::Bytes> &outputs);

private:
  explicit ProgramRun(DiagnosticSink &sink) : sink(sink) {}

  DiagnosticSink &sink;
  std::unique_ptr<LoadedProgram> program;
  ampc_session session = nullptr;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_PROGRAMRUN_H
