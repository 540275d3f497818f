//===- KernelRun.h - A generated kernel, run in the simulator -------------===//
#ifndef AMPC_TEST_UNIT_CUDA_KERNELRUN_H
#define AMPC_TEST_UNIT_CUDA_KERNELRUN_H

#include "compiler/Targets/CUDA/PtxWriter.h"
#include "compiler/Targets/Target.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/Evaluator.h"
#include "test/unit/Simulate/Harness.h"

namespace ampc::test {

/// A module of one kernel, given from its arguments on.
mlir::OwningOpRef<mlir::ModuleOp> parseKernel(const std::string &kernel);

/// A rule by which all contractions of `type` have the tile.
inline std::vector<ContractionRule> useTile(std::array<int64_t, 3> tile,
                                            const std::string &type = "f16") {
  ContractionRule rule;
  rule.type = type;
  rule.tile = tile;
  return {rule};
}
/// Replaces the elements that `choose` has a number for.
void overwrite(ref::Tensor &tensor,
               llvm::function_ref<std::optional<double>(int64_t)> choose);

/// A kernel with one result as it is shipped for an architecture, seeded
/// arguments, and the result that the reference evaluator computes of them in
/// float64.
class ShippedKernel {
public:
  using Change =
      llvm::function_ref<void(llvm::MutableArrayRef<ref::Tensor> arguments)>;

  /// `kernel` is the arguments and the body of an amp.kernel; `change` may
  /// change the random arguments. Fails the test where one of the steps does;
  /// `isReady` tells.
  ShippedKernel(const std::string &kernel, const char *architecture,
                llvm::ArrayRef<ContractionRule> rules = {}, Change change = {});

  bool isReady() const { return ready; }
  /// The code that the NVPTX backend gets.
  const llvm::Module &code() const { return *kernels.module; }
  const codegen::GpuImage::Launch &launch() const {
    return kernels.launches.front();
  }
  /// What ptxas gets.
  std::string writePtx() { return kernels.writePtx(); }

  /// As test::assemble, of the PTX that is shipped.
  std::string assemble() const;

  /// One run in the simulator with its detectors on.
  struct Run {
    std::unique_ptr<Program> program;
    std::unique_ptr<Device> device; ///< null: the code has no lowering
    ref::Tensor got;
    /// Of the result against the reference; infinite where one is no number.
    double error = 0;
  };
  /// Runs `module`, which is code() or what a test made of it.
  Run run(const llvm::Module &module, uint64_t seed = 0) const;

private:
  void prepare(const std::string &kernel, const char *architecture,
               llvm::ArrayRef<ContractionRule> rules, Change change);

  unsigned arch = 0;
  bool ready = false;
  mlir::OwningOpRef<mlir::ModuleOp> source;
  cuda::KernelModule kernels;
  llvm::SmallVector<ref::Tensor> arguments;
  ref::Tensor wanted;
};

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_CUDA_KERNELRUN_H
