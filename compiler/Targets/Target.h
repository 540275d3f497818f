//===- Target.h - What the driver asks of a target ------------------------===//
#ifndef AMPC_COMPILER_TARGETS_TARGET_H
#define AMPC_COMPILER_TARGETS_TARGET_H

#include "compiler/Targets/ContractionRule.h"
#include "dialects/Amp/IR/AmpDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <memory>
#include <string>

namespace ampc {

/// What the machine code of a program is written as.
enum class CodeForm { Object, Assembly, LlvmIr, Cubin };

/// Metadata of a diagnostic: not the model is at fault but a program of the
/// toolkit.
inline constexpr llvm::StringLiteral toolchainFailure = "toolchain";

/// Options of code emission.
struct CodegenOptions {
  std::string march = "native"; ///< -march name: native, x86-64-v3, ...
  unsigned optLevel = 3;        ///< 0 to 3
  bool simulate = false;        ///< GPU kernels for the simulator on the host
  unsigned threads = 1; ///< compile threads; the bytes do not depend on it
  /// Of these the first that applies holds.
  std::vector<ContractionRule> contractionRules;
  /// Symbol of the `ampc_program` object.
  std::string programSymbol = "ampc_program_entry";
  /// Symbol of the weight section when it is linked in; empty: `weightsFile`.
  std::string weightsSymbol = "ampc_program_weights";
  std::string
      weightsFile; ///< name of the file with the weights, beside the program
  uint64_t weightsFileOffset = 0;
  std::string producer = "ampc";
  std::string metadata = "{}"; ///< JSON of ampc_program.metadata
  /// Where compiled kernels are kept; empty: nowhere.
  std::string cacheFolder;
  uint64_t cacheLimit = 1ull << 30; ///< bytes
  /// Told how many kernels were found there, how many were not, and what went
  /// wrong ("" if nothing).
  std::function<void(unsigned, unsigned, const std::string &)> cacheReport;
};

/// A place where programs run. A target is created for a machine (or a name of
/// one) and turns the kernels of a module into machine code.
class Target {
public:
  virtual ~Target() = default;
  virtual llvm::StringRef getName() const = 0;

  /// The facts that passes may ask, set as `amp.target` on the module.
  virtual amp::TargetAttr getTargetAttr(mlir::MLIRContext *context) const = 0;

  /// Types whose products are faster than those of f32, on every machine that
  /// the code is for.
  struct FastTypes {
    bool fp16 = false, bf16 = false, tf32 = false;
  };
  virtual FastTypes getFastTypes() const { return {}; }

  /// Writes the kernels of `module` and the table of its `rt.program`. Reports
  /// through diagnostics at the kernel or launch it cannot emit.
  virtual mlir::LogicalResult emitCode(mlir::ModuleOp module, CodeForm form,
                                       const CodegenOptions &options,
                                       llvm::raw_pwrite_stream &os) const = 0;
};

/// The CPU target for a -march name; null with a message in `error` when the
/// name is unknown.
std::unique_ptr<Target> createCpuTarget(llvm::StringRef march,
                                        std::string &error);

/// The target of NVIDIA GPUs, for architectures (sm_80) or GPUs (a100) by name;
/// null with a message in `error` when a name is unknown. `--emit=asm` of the
/// oldest is PTX.
std::unique_ptr<Target>
createCudaTarget(llvm::ArrayRef<std::string> architectures, std::string &error);

} // namespace ampc

#endif // AMPC_COMPILER_TARGETS_TARGET_H
