//===- Plants.h - Faults planted into the code of a kernel ----------------===//
//
// A plant changes optimised LLVM IR as a mistake in an emitter would. Each kind
// finds its own sites, so that it applies to every kernel that has some.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_TEST_UNIT_CUDA_PLANTS_H
#define AMPC_TEST_UNIT_CUDA_PLANTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

#include <functional>

namespace ampc::test {

/// A kind of fault.
struct Plant {
  std::string name;
  /// Whether the fault can be planted at the instruction.
  std::function<bool(llvm::Instruction &)> matches;
  std::function<void(llvm::Instruction &)> apply;

  /// Where in `kernel`, in its order.
  llvm::SmallVector<llvm::Instruction *> sites(llvm::Function &kernel) const;
};

/// The instruction, if it calls the intrinsic "llvm.nvvm." + `prefix` +
/// anything; else null.
llvm::CallInst *callOf(llvm::Instruction &instruction, llvm::StringRef prefix);

/// Such a call is not made.
/// What it would have returned is its first operand, or 0.
Plant dropCall(std::string name, std::string prefix);
/// The constant operand number `operand` of such calls becomes `change` of it.
Plant changeOperand(std::string name, std::string prefix, unsigned operand,
                    std::function<int64_t(int64_t)> change);
/// Operands `a` and `b` of such calls change places.
Plant swapOperands(std::string name, std::string prefix, unsigned a,
                   unsigned b);
/// Registers `a` and `b` that such calls return change places.
Plant swapResults(std::string name, std::string prefix, unsigned a, unsigned b);
/// ldmatrix with .trans becomes one without, and the other way round.
Plant flipTransposition();
/// Only the odd lanes of a warp come to a barrier.
Plant divergentBarrier();

/// Waits on an mbarrier are for the other phase.
Plant flippedPhase();
/// Waits on an mbarrier come back at once.
Plant noMbarrierWait();
/// Nothing reads the flag that another block sets.
Plant unreadFlag();
/// An atomic load or store orders nothing.
Plant relaxedAtomic();
/// wgmma reads another swizzle than the copies write.
Plant wrongSwizzle();
/// wgmma reads its matrices from each other's places.
Plant swappedDescriptors();

/// How an address is made differently, of the accesses that `matches` takes:
/// the operand `pointerOperand` says where the address stands.
enum class AddressFault {
  unswizzled, ///< without exclusive or
  nextStage,  ///< of the next turn of its loop
  misaligned, ///< two bytes further
};
/// The accesses whose address is changed.
enum class Accesses {
  ldmatrix,
  sharedStores,
  globalVectors,
  asyncCopies,
  tensorCopies
};
Plant changeAddress(AddressFault fault, Accesses accesses);

/// A comparison of an index with `extent`, or with what a shift of both makes
/// of it, allows a chunk more.
Plant looseEdge(std::string name, int64_t extent);
/// A multiplication by `stride` is one by a number less.
Plant wrongStride(std::string name, int64_t stride);
/// Loads through argument number `argument` give zeros.
Plant lostOperand(std::string name, unsigned argument);
/// Sums of a matrix unit that do not begin with zero.
Plant uninitializedSums();
/// cp.async reads all of its bytes, whether they are inside or not.
Plant fullCopies();
/// Elements behind an edge are 1 instead of 0.
Plant noZeroFill();

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_CUDA_PLANTS_H
