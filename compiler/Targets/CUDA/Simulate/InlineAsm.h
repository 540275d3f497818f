//===- InlineAsm.h - The lowering of one inline assembly string -----------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SIMULATE_INLINEASM_H
#define AMPC_COMPILER_TARGETS_CUDA_SIMULATE_INLINEASM_H

#include "compiler/Targets/CUDA/Simulate/Lowering.h"
#include "compiler/Targets/CUDA/Simulate/Ptx.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"

namespace ampc::cuda {

/// The lowering of one string.
class AsmLowering {
public:
  AsmLowering(Lowering &lowering, llvm::CallBase &call)
      : lowering(lowering), call(call),
        assembly(*llvm::cast<llvm::InlineAsm>(call.getCalledOperand())) {}

  void run();

private:
  void unsupported(const llvm::Twine &what) {
    lowering.fail(call, "the inline assembly " + what + " is not supported");
  }
  void lower(const PtxStatement &statement);
  bool lowerWaitLoop(llvm::ArrayRef<PtxStatement> statements);
  bool lowerTensorCopy(const PtxStatement &statement);
  bool lowerCopy(const PtxStatement &statement);
  bool lowerWgmma(const PtxStatement &statement);
  bool lowerRule(const PtxStatement &statement);

  /// A token's value: an operand of the call, a constant, a name set before.
  llvm::Value *valueOf(const PtxToken &token);
  llvm::Value *as(char word, const PtxToken &token);
  bool isOutput(const PtxToken &token) const {
    return token.kind == PtxToken::operand && token.value < outputs;
  }
  void setOutput(const PtxToken &token, llvm::Value *value) {
    if (token.kind == PtxToken::name) {
      names[token.text] = value;
    } else {
      results[static_cast<size_t>(token.value)] = value;
    }
  }
  llvm::Type *outputType(size_t index) const {
    auto *structure = llvm::dyn_cast<llvm::StructType>(call.getType());
    return structure ? structure->getElementType(static_cast<unsigned>(index))
                     : call.getType();
  }
  llvm::Value *callPacked(const PtxStatement &statement, llvm::StringRef callee,
                          llvm::ArrayRef<llvm::Value *> operands,
                          llvm::Type *type, llvm::ArrayRef<uint32_t> imm) {
    return lowering.callPacked(*at, callee, statement.mnemonic, operands, type,
                               imm);
  }

  Lowering &lowering;
  llvm::CallBase &call;
  llvm::InlineAsm &assembly;
  llvm::Instruction *at = nullptr; // statements are lowered before it
  int64_t outputs = 0;
  llvm::SmallVector<llvm::Value *> results;
  llvm::SmallVector<llvm::Value *>
      tied; // inputs that begin as an output's value
  llvm::StringMap<llvm::Value *> names;
  llvm::SmallVector<uint32_t> wgmmaSites;
};

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SIMULATE_INLINEASM_H
