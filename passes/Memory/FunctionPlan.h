//===- FunctionPlan.h - Where the buffers of a function lie ---------------===//
#ifndef AMPC_PASSES_MEMORY_FUNCTIONPLAN_H
#define AMPC_PASSES_MEMORY_FUNCTIONPLAN_H

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Memory/StateLayout.h"
#include "llvm/ADT/DenseMap.h"

namespace ampc::memory {

// As AMPC_ALIGNMENT and AMPC_OVERREAD in the ABI.
inline constexpr int64_t alignment = 64;
inline constexpr int64_t overread = 64;

/// Bytes of a tensor whose size has been checked.
inline int64_t byteSize(mlir::Type type) { return *checkedByteSize(type); }

/// The value whose bytes `value` are: views of the host share them.
mlir::Value storageOf(mlir::Value value);

/// Where buffers may lie that all functions share.
struct SharedPlaces {
  explicit SharedPlaces(const StateLayout &states) : states(states) {}

  const StateLayout &states;
  llvm::DenseMap<mlir::StringAttr, int64_t> weights; ///< offsets, by symbol
};

/// The places of all values of one function of launches, reshapes and weights.
class FunctionPlan {
public:
  /// Arguments and results that are no states get the numbers from `firstInput`
  /// and `firstOutput` on.
  FunctionPlan(mlir::func::FuncOp function, const SharedPlaces &shared,
               unsigned firstInput, unsigned firstOutput)
      : function(function), shared(shared), firstInput(firstInput),
        firstOutput(firstOutput) {}

  /// Fails if the function holds what a program cannot.
  mlir::LogicalResult check();
  mlir::LogicalResult place();

  rt::BufferAttr placeOf(mlir::Value value) const {
    return places.lookup(storageOf(value));
  }
  int64_t getArenaBytes() const { return arenaBytes; }
  llvm::ArrayRef<unsigned> getInputs() const { return inputs; }
  llvm::ArrayRef<unsigned> getOutputs() const { return outputs; }

  /// What has to be copied when all launches have run, in order.
  struct Copy {
    mlir::Value from;
    rt::BufferAttr to;
    bool isState;
  };
  llvm::ArrayRef<Copy> getCopies() const { return copies; }

private:
  rt::BufferAttr buffer(rt::BufferRegion region, int64_t index, int64_t offset);
  rt::BufferAttr stateBuffer(mlir::Attribute state);
  void placeArguments();
  void placeResults();
  bool mayWriteState(mlir::OpResult result, rt::BufferAttr target);
  mlir::LogicalResult orderCopies();
  void planIntermediates();

  mlir::func::FuncOp function;
  const SharedPlaces &shared;
  unsigned firstInput, firstOutput;
  llvm::SmallVector<unsigned> inputs, outputs; ///< arguments, results
  llvm::DenseMap<mlir::Value, rt::BufferAttr> places;
  llvm::SmallVector<Copy> copies;
  int64_t arenaBytes = 0;
};

} // namespace ampc::memory

#endif // AMPC_PASSES_MEMORY_FUNCTIONPLAN_H
