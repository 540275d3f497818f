//===- Plants.cpp - Faults planted into the code of a kernel --------------===//
#include "test/unit/Cuda/Plants.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace ampc::test;
using namespace llvm;

SmallVector<Instruction *> Plant::sites(Function &kernel) const {
  SmallVector<Instruction *> found;
  for (Instruction &instruction : instructions(kernel)) {
    if (matches(instruction)) {
      found.push_back(&instruction);
    }
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Instructions of the GPU
//===----------------------------------------------------------------------===//

CallInst *ampc::test::callOf(Instruction &instruction, StringRef prefix) {
  auto *call = dyn_cast<CallInst>(&instruction);
  Function *callee = call ? call->getCalledFunction() : nullptr;
  StringRef name = callee ? callee->getName() : "";
  return name.consume_front("llvm.nvvm.") && name.starts_with(prefix) ? call
                                                                      : nullptr;
}

static std::function<bool(Instruction &)> callsOf(std::string prefix) {
  return [prefix](Instruction &instruction) {
    return callOf(instruction, prefix) != nullptr;
  };
}

Plant ampc::test::dropCall(std::string name, std::string prefix) {
  return {name, callsOf(prefix), [](Instruction &call) {
            if (!call.getType()->isVoidTy()) {
              call.replaceAllUsesWith(Constant::getNullValue(call.getType()));
            }
            call.eraseFromParent();
          }};
}

Plant ampc::test::changeOperand(std::string name, std::string prefix,
                                unsigned operand,
                                std::function<int64_t(int64_t)> change) {
  auto matches = [=](Instruction &instruction) {
    CallInst *call = callOf(instruction, prefix);
    auto *value =
        call ? dyn_cast<ConstantInt>(call->getArgOperand(operand)) : nullptr;
    return value && change(value->getSExtValue()) != value->getSExtValue();
  };
  return {name, matches, [=](Instruction &instruction) {
            auto &call = cast<CallInst>(instruction);
            auto *value = cast<ConstantInt>(call.getArgOperand(operand));
            call.setArgOperand(
                operand, ConstantInt::getSigned(value->getType(),
                                                change(value->getSExtValue())));
          }};
}

Plant ampc::test::swapOperands(std::string name, std::string prefix, unsigned a,
                               unsigned b) {
  return {name, callsOf(prefix), [=](Instruction &instruction) {
            auto &call = cast<CallInst>(instruction);
            Value *first = call.getArgOperand(a);
            call.setArgOperand(a, call.getArgOperand(b));
            call.setArgOperand(b, first);
          }};
}

Plant ampc::test::swapResults(std::string name, std::string prefix, unsigned a,
                              unsigned b) {
  return {name, callsOf(prefix), [=](Instruction &call) {
            for (User *user : make_early_inc_range(call.users())) {
              auto *part = cast<ExtractValueInst>(user);
              unsigned index = part->getIndices()[0];
              if (index == a || index == b) {
                IRBuilder<> builder(part);
                part->replaceAllUsesWith(
                    builder.CreateExtractValue(&call, index == a ? b : a));
                part->eraseFromParent();
              }
            }
          }};
}

Plant ampc::test::flipTransposition() {
  const char *prefix = "ldmatrix.sync.aligned.m8n8.x4";
  return {"WrongTransposition", callsOf(prefix), [](Instruction &instruction) {
            auto &call = cast<CallInst>(instruction);
            bool transposed =
                call.getCalledFunction()->getName().contains(".trans");
            Intrinsic::ID other =
                transposed
                    ? Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16
                    : Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16;
            Type *pointer = call.getArgOperand(0)->getType();
            call.setCalledFunction(Intrinsic::getOrInsertDeclaration(
                call.getModule(), other, {pointer}));
          }};
}

Plant ampc::test::divergentBarrier() {
  return {"DivergentBarrier", callsOf("barrier.cta.sync.aligned.all"),
          [](Instruction &barrier) {
            IRBuilder<> builder(&barrier);
            Value *thread = builder.CreateIntrinsic(
                builder.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
            Value *isOdd = builder.CreateTrunc(thread, builder.getInt1Ty());
            Instruction *inside = SplitBlockAndInsertIfThen(
                isOdd, barrier.getIterator(), /*Unreachable=*/false);
            barrier.moveBefore(inside->getIterator());
          }};
}

Plant ampc::test::flippedPhase() {
  return {"FlippedPhase", callsOf("mbarrier.try.wait.parity"),
          [](Instruction &instruction) {
            auto &call = cast<CallInst>(instruction);
            IRBuilder<> builder(&call);
            call.setArgOperand(1, builder.CreateXor(call.getArgOperand(1), 1));
          }};
}

Plant ampc::test::noMbarrierWait() {
  return {"NoMbarrierWait", callsOf("mbarrier.try.wait.parity"),
          [](Instruction &call) {
            call.replaceAllUsesWith(ConstantInt::getTrue(call.getType()));
            call.eraseFromParent();
          }};
}

Plant ampc::test::unreadFlag() {
  // The load and its comparison with the value that is waited for.
  auto comparisonOf = [](Instruction &instruction) -> ICmpInst * {
    auto *load = dyn_cast<LoadInst>(&instruction);
    return load && load->isAtomic() && load->hasOneUse()
               ? dyn_cast<ICmpInst>(load->user_back())
               : nullptr;
  };
  auto matches = [=](Instruction &instruction) {
    return comparisonOf(instruction) != nullptr;
  };
  return {"UnreadFlag", matches, [=](Instruction &load) {
            ICmpInst *comparison = comparisonOf(load);
            bool isRight = comparison->getOperand(0) != &load;
            load.replaceAllUsesWith(comparison->getOperand(isRight ? 0 : 1));
            load.eraseFromParent();
          }};
}

Plant ampc::test::relaxedAtomic() {
  auto matches = [](Instruction &instruction) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    auto *store = dyn_cast<StoreInst>(&instruction);
    return (load && load->isAtomic()) || (store && store->isAtomic());
  };
  return {
      "RelaxedAtomic", matches, [](Instruction &instruction) {
        if (auto *load = dyn_cast<LoadInst>(&instruction)) {
          load->setOrdering(AtomicOrdering::Monotonic);
        } else {
          cast<StoreInst>(instruction).setOrdering(AtomicOrdering::Monotonic);
        }
      }};
}

/// The operands of a wgmma that are descriptors; none of anything else.
static SmallVector<Use *> descriptorsOf(Instruction &instruction) {
  SmallVector<Use *> found;
  auto *call = dyn_cast<CallInst>(&instruction);
  auto *assembly =
      call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (assembly &&
      assembly->getAsmString().find("wgmma.mma_async") != std::string::npos) {
    for (Use &operand : call->args()) {
      if (operand->getType()->isIntegerTy(64)) {
        found.push_back(&operand);
      }
    }
  }
  return found;
}

static bool isWgmma(Instruction &instruction) {
  return !descriptorsOf(instruction).empty();
}

Plant ampc::test::wrongSwizzle() {
  return {"WrongSwizzle", isWgmma, [](Instruction &wgmma) {
            // Bits 62 and 63: 1 is 128 bytes, 2 is 64 (PTX ISA, "Matrix
            // descriptor").
            Use &right = *descriptorsOf(wgmma).back();
            IRBuilder<> builder(&wgmma);
            right.set(builder.CreateXor(right.get(), uint64_t(3) << 62));
          }};
}

Plant ampc::test::swappedDescriptors() {
  auto matches = [](Instruction &instruction) {
    return descriptorsOf(instruction).size() == 2;
  };
  return {"SwappedDescriptors", matches, [](Instruction &wgmma) {
            SmallVector<Use *> both = descriptorsOf(wgmma);
            both[0]->swap(*both[1]);
          }};
}

//===----------------------------------------------------------------------===//
// Edges, strides, operands
//===----------------------------------------------------------------------===//

Plant ampc::test::looseEdge(std::string name, int64_t extent) {
  // "i < extent" or, as LLVM writes it elsewhere, "i > extent - 1": the factor
  // by which both sides have been multiplied, 0 for anything else.
  auto factorOf = [=](Instruction &instruction) -> int64_t {
    auto *compare = dyn_cast<ICmpInst>(&instruction);
    auto *bound =
        compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
    if (!bound || compare->isEquality()) {
      return 0;
    }
    CmpInst::Predicate predicate = compare->getUnsignedPredicate();
    int64_t value =
        bound->getSExtValue() + (predicate == CmpInst::ICMP_UGT ? 1 : 0);
    if (predicate != CmpInst::ICMP_ULT && predicate != CmpInst::ICMP_UGT) {
      return 0;
    }
    for (int64_t factor = 1; factor <= 16; factor *= 2) {
      if (value == extent * factor) {
        return factor;
      }
    }
    return 0;
  };
  return {name, [=](Instruction &i) { return factorOf(i) != 0; },
          [=](Instruction &instruction) {
            constexpr int64_t chunk = 8;
            auto *bound = cast<ConstantInt>(instruction.getOperand(1));
            instruction.setOperand(
                1, ConstantInt::getSigned(bound->getType(),
                                          bound->getSExtValue() +
                                              chunk * factorOf(instruction)));
          }};
}

Plant ampc::test::wrongStride(std::string name, int64_t stride) {
  auto matches = [=](Instruction &instruction) {
    auto *factor = instruction.getOpcode() == Instruction::Mul
                       ? dyn_cast<ConstantInt>(instruction.getOperand(1))
                       : nullptr;
    return factor && factor->getSExtValue() == stride;
  };
  return {name, matches, [=](Instruction &instruction) {
            instruction.setOperand(
                1, ConstantInt::get(instruction.getType(), stride - 1));
          }};
}

/// Whether an address is made of `pointer` and an offset.
static bool pointsInto(const Value *address, const Value *pointer) {
  while (auto *element = dyn_cast<GetElementPtrInst>(address)) {
    address = element->getPointerOperand();
  }
  return address == pointer;
}

Plant ampc::test::lostOperand(std::string name, unsigned argument) {
  auto matches = [=](Instruction &instruction) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    return load && pointsInto(load->getPointerOperand(),
                              load->getFunction()->getArg(argument));
  };
  return {name, matches, [](Instruction &load) {
            load.replaceAllUsesWith(Constant::getNullValue(load.getType()));
          }};
}

Plant ampc::test::uninitializedSums() {
  auto isSum = [](Instruction &instruction) {
    auto *phi = dyn_cast<PHINode>(&instruction);
    return phi && phi->getType()->isFloatTy() &&
           any_of(phi->incoming_values(),
                  [](Value *value) {
                    auto *zero = dyn_cast<ConstantFP>(value);
                    return zero && zero->isZero();
                  }) &&
           any_of(phi->users(), [](User *user) {
             auto *use = dyn_cast<Instruction>(user);
             return use && callOf(*use, "mma.");
           });
  };
  return {"UninitializedSums", isSum, [](Instruction &instruction) {
            auto &phi = cast<PHINode>(instruction);
            for (Use &value : phi.incoming_values()) {
              if (isa<ConstantFP>(value)) {
                value.set(ConstantFP::get(phi.getType(), 1.0));
              }
            }
          }};
}

Plant ampc::test::fullCopies() {
  auto matches = [](Instruction &instruction) {
    CallInst *call = callOf(instruction, "cp.async.c");
    return call && call->arg_size() == 3;
  };
  return {"FullCopies", matches, [](Instruction &instruction) {
            auto &call = cast<CallInst>(instruction);
            StringRef name = call.getCalledFunction()->getName();
            int64_t bytes = name.contains(".16.")  ? 16
                            : name.contains(".8.") ? 8
                                                   : 4;
            Type *type = call.getArgOperand(2)->getType();
            call.setArgOperand(2, ConstantInt::get(type, bytes));
          }};
}

Plant ampc::test::noZeroFill() {
  auto isFill = [](Instruction &instruction) {
    auto *phi = dyn_cast<PHINode>(&instruction);
    auto *type = phi ? dyn_cast<FixedVectorType>(phi->getType()) : nullptr;
    return type && type->getPrimitiveSizeInBits() == 128 &&
           any_of(phi->incoming_values(), [](Value *value) {
             return isa<ConstantAggregateZero>(value);
           });
  };
  return {"NoZeroFill", isFill, [](Instruction &instruction) {
            auto &phi = cast<PHINode>(instruction);
            Type *element = cast<VectorType>(phi.getType())->getElementType();
            Constant *one = element->isFloatingPointTy()
                                ? ConstantFP::get(phi.getType(), 1.0)
                                : ConstantInt::get(phi.getType(), 0x3c003c00);
            for (Use &value : phi.incoming_values()) {
              if (isa<ConstantAggregateZero>(value)) {
                value.set(one);
              }
            }
          }};
}
