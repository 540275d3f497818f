//===- PlantAddresses.cpp - Faults planted into addresses -----------------===//
#include "test/unit/Cuda/Plants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

using namespace ampc::test;
using namespace llvm;

namespace {
/// What an access of the kind reads or writes through; null if it is none.
Use *addressOf(Instruction &instruction, Accesses accesses) {
  auto isVector = [](Value *value) {
    auto *type = dyn_cast<FixedVectorType>(value->getType());
    return type && type->getPrimitiveSizeInBits() >= 64;
  };
  auto *store = dyn_cast<StoreInst>(&instruction);
  auto *load = dyn_cast<LoadInst>(&instruction);
  switch (accesses) {
  case Accesses::ldmatrix: {
    CallInst *call = callOf(instruction, "ldmatrix");
    return call ? &call->getArgOperandUse(0) : nullptr;
  }
  case Accesses::asyncCopies: {
    CallInst *call = callOf(instruction, "cp.async.c");
    return call && call->arg_size() >= 2 ? &call->getArgOperandUse(0) : nullptr;
  }
  case Accesses::tensorCopies: {
    CallInst *call = callOf(instruction, "cp.async.bulk.tensor.g2s");
    return call ? &call->getArgOperandUse(0) : nullptr;
  }
  case Accesses::sharedStores:
    return store && store->getPointerAddressSpace() == 3 &&
                   isVector(store->getValueOperand())
               ? &store->getOperandUse(1)
               : nullptr;
  case Accesses::globalVectors:
    return store && store->getPointerAddressSpace() != 3 &&
                   isVector(store->getValueOperand())
               ? &store->getOperandUse(1)
           : load && load->getPointerAddressSpace() != 3 && isVector(load)
               ? &load->getOperandUse(0)
               : nullptr;
  }
  return nullptr;
}

bool isArithmetic(Value *value) {
  return isa<BinaryOperator, CastInst, GetElementPtrInst, SelectInst, CmpInst>(
      value);
}

bool dependsOn(Value *value, PHINode *phi, unsigned depth = 4) {
  if (value == phi) {
    return true;
  }
  return depth > 0 && isArithmetic(value) &&
         any_of(cast<Instruction>(value)->operands(), [&](Use &operand) {
           return dependsOn(operand.get(), phi, depth - 1);
         });
}

/// What an integer of a loop becomes for its next turn; null if it is not made
/// of what it was.
Value *nextOf(PHINode *phi) {
  for (Value *next : phi->incoming_values()) {
    if (phi->getType()->isIntegerTy() && next != phi && dependsOn(next, phi)) {
      return next;
    }
  }
  return nullptr;
}

/// Copies the arithmetic that makes an address, with some of it changed.
class AddressCopy {
public:
  AddressCopy(AddressFault fault, Instruction *before)
      : fault(fault), builder(before) {}

  Value *copy(Value *value) {
    auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction) {
      return value;
    }
    if (auto it = done.find(value); it != done.end()) {
      return it->second;
    }
    if (auto *phi = dyn_cast<PHINode>(instruction)) {
      done[value] = value;
      Value *next = fault == AddressFault::nextStage ? nextOf(phi) : nullptr;
      return done[value] = next ? copy(next) : value;
    }
    if (fault == AddressFault::unswizzled &&
        instruction->getOpcode() == Instruction::Xor) {
      return done[value] = copy(instruction->getOperand(0));
    }
    if (!isArithmetic(instruction)) {
      return value;
    }
    Instruction *made = instruction->clone();
    for (Use &operand : made->operands()) {
      operand.set(copy(operand.get()));
    }
    // What was known of the bits does not hold any more.
    made->dropPoisonGeneratingFlags();
    return done[value] = builder.Insert(made);
  }

private:
  AddressFault fault;
  IRBuilder<> builder;
  DenseMap<Value *, Value *> done;
};

/// Whether the arithmetic of an address has something to change.
bool canChange(AddressFault fault, Value *value,
               SmallPtrSetImpl<Value *> &seen) {
  auto *instruction = dyn_cast<Instruction>(value);
  if (!instruction || !seen.insert(value).second) {
    return false;
  }
  if (auto *phi = dyn_cast<PHINode>(instruction)) {
    return fault == AddressFault::nextStage && nextOf(phi);
  }
  if (fault == AddressFault::unswizzled &&
      instruction->getOpcode() == Instruction::Xor) {
    return true;
  }
  return isArithmetic(instruction) &&
         any_of(instruction->operands(), [&](Use &operand) {
           return canChange(fault, operand.get(), seen);
         });
}
} // namespace

Plant ampc::test::changeAddress(AddressFault fault, Accesses accesses) {
  static constexpr const char *faults[] = {"Unswizzled", "NextStage",
                                           "Misaligned"};
  static constexpr const char *kinds[] = {
      "Ldmatrix", "SharedStore", "GlobalVector", "AsyncCopy", "TensorCopy"};
  auto matches = [=](Instruction &instruction) {
    Use *address = addressOf(instruction, accesses);
    SmallPtrSet<Value *, 32> seen;
    return address && (fault == AddressFault::misaligned ||
                       canChange(fault, address->get(), seen));
  };
  auto apply = [=](Instruction &instruction) {
    Use *address = addressOf(instruction, accesses);
    if (fault == AddressFault::misaligned) {
      IRBuilder<> builder(&instruction);
      address->set(
          builder.CreateConstGEP1_32(builder.getInt8Ty(), address->get(), 2));
      return;
    }
    address->set(AddressCopy(fault, &instruction).copy(address->get()));
  };
  return {std::string(faults[static_cast<int>(fault)]) +
              kinds[static_cast<int>(accesses)],
          matches, apply};
}
