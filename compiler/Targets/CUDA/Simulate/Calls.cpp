//===- Calls.cpp - Calls that a host cannot make --------------------------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace ampc::cuda;

/// LLVM's intrinsics that the host's code generation turns into calls of libm,
/// whose results are none of the GPU's.
static bool callsLibm(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::exp:
  case Intrinsic::exp2:
  case Intrinsic::exp10:
  case Intrinsic::log:
  case Intrinsic::log2:
  case Intrinsic::log10:
  case Intrinsic::sin:
  case Intrinsic::cos:
  case Intrinsic::tan:
  case Intrinsic::tanh:
  case Intrinsic::sinh:
  case Intrinsic::cosh:
  case Intrinsic::asin:
  case Intrinsic::acos:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::pow:
  case Intrinsic::powi:
  case Intrinsic::frexp:
  case Intrinsic::ldexp:
    return true;
  default:
    return false;
  }
}

void Lowering::lowerCalls(Function &function) {
  SmallVector<CallBase *> calls;
  for (BasicBlock &block : function) {
    for (Instruction &instruction : block) {
      if (auto *call = dyn_cast<CallBase>(&instruction)) {
        calls.push_back(call);
      }
    }
  }
  for (CallBase *call : calls) {
    if (call->isInlineAsm()) {
      lowerInlineAsm(*call);
      continue;
    }
    Function *callee = call->getCalledFunction();
    if (!callee) {
      fail(*call, "a call through a pointer is not supported");
      continue;
    }
    StringRef name = callee->getName();
    if (name.consume_front("llvm.nvvm.")) {
      lowerIntrinsic(*call, name);
    } else if (callee->getIntrinsicID() == Intrinsic::trap ||
               name == "__assertfail") {
      callPacked(*call, "ampc_sim_trap", name, {}, voidType, {});
      call->eraseFromParent();
    } else if (callee->isIntrinsic()) {
      if (callsLibm(callee->getIntrinsicID())) {
        fail(*call, "the intrinsic " + name + " is not supported");
      }
    } else if (callee->isDeclaration() && !name.starts_with("ampc_sim_")) {
      fail(*call, "the function " + name + " has no body");
    }
  }
}

/// Looks through what only moves registers. A wgmma may take them as they are;
/// one that is lowered already is told by a mark on its operands' stores.
void Lowering::checkUses(Value *result, uint32_t producer) {
  SmallSetVector<Value *, 16> moved;
  SmallSetVector<Instruction *, 16> users;
  moved.insert(result);
  for (size_t i = 0; i < moved.size(); ++i) {
    for (User *user : moved[i]->users()) {
      if (isa<ExtractValueInst, InsertValueInst, PHINode, FreezeInst>(user)) {
        moved.insert(user);
        continue;
      }
      auto *call = dyn_cast<CallBase>(user);
      if (!call || !call->isInlineAsm()) {
        users.insert(cast<Instruction>(user));
      }
    }
  }
  // The first use in a block stands for the others there.
  SmallMapVector<BasicBlock *, Instruction *, 8> first;
  for (Instruction *user : users) {
    if (user->hasMetadata("ampc.wgmma")) {
      continue;
    }
    Instruction *&earliest = first[user->getParent()];
    if (!earliest || user->comesBefore(earliest)) {
      earliest = user;
    }
  }
  for (auto &[block, user] : first) {
    callPacked(*user, "ampc_sim_wgmma_use", "use of a wgmma's result", {},
               voidType, {producer});
  }
}
