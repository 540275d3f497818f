//===- Jit.h - A compiled program inside this process ---------------------===//
#ifndef AMPC_COMPILER_DRIVER_JIT_H
#define AMPC_COMPILER_DRIVER_JIT_H

#include "ampc/abi.h"
#include "compiler/Driver/Compilation.h"

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace ampc::driver {

/// Machine code and weights of a program, in memory. What an artifact holds in
/// its file lies here in two mappings; the code is the same, byte for byte.
class LoadedProgram {
public:
  /// Emits and loads what `compilation` has brought to the memory phase; null
  /// after reporting.
  static std::unique_ptr<LoadedProgram> load(Compilation &compilation);
  ~LoadedProgram();

  /// Valid as long as this object.
  const ampc_program &get() const { return *program; }

private:
  LoadedProgram() = default;

  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *weights = nullptr;
  uint64_t mappedBytes = 0;
  const ampc_program *program = nullptr;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_JIT_H
