//===- NarrowFloats.cpp - bf16 and f16 that the host's code would call for ===//
//
// On a host without these formats, code generation calls library functions that
// may not be there (__truncsfbf2) or rounds a fused multiply-add twice.
//
//===----------------------------------------------------------------------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace ampc::cuda;

namespace {

bool isBfloat(Type *type) { return type->getScalarType()->isBFloatTy(); }

Type *withScalar(Type *type, Type *scalar) {
  if (auto *vector = dyn_cast<VectorType>(type)) {
    return VectorType::get(scalar, vector->getElementCount());
  }
  return scalar;
}

/// bf16 to f32: the upper half of the same bits.
Value *widen(IRBuilder<> &builder, Value *value) {
  Type *wide = withScalar(value->getType(), builder.getInt32Ty());
  Value *bits = builder.CreateBitCast(
      value, withScalar(value->getType(), builder.getInt16Ty()));
  bits = builder.CreateShl(builder.CreateZExt(bits, wide), 16);
  return builder.CreateBitCast(
      bits, withScalar(value->getType(), builder.getFloatTy()));
}

/// f32 to bf16, to nearest even; NaN becomes the canonical one.
Value *narrow(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  Type *wide = withScalar(type, builder.getInt32Ty());
  auto constant = [&](uint32_t bits) { return ConstantInt::get(wide, bits); };
  Value *bits = builder.CreateBitCast(value, wide);
  Value *odd = builder.CreateAnd(builder.CreateLShr(bits, 16), constant(1));
  Value *rounded =
      builder.CreateAdd(bits, builder.CreateAdd(odd, constant(0x7fff)));
  rounded = builder.CreateLShr(rounded, 16);
  Value *nan = builder.CreateFCmpUNO(value, value);
  rounded = builder.CreateSelect(nan, constant(0x7fff), rounded);
  Value *half =
      builder.CreateTrunc(rounded, withScalar(type, builder.getInt16Ty()));
  return builder.CreateBitCast(
      half, withScalar(type, Type::getBFloatTy(builder.getContext())));
}

} // namespace

void Lowering::lowerNarrowFloats(Function &function) {
  SmallVector<Instruction *> all;
  for (BasicBlock &block : function) {
    for (Instruction &instruction : block) {
      all.push_back(&instruction);
    }
  }
  // An fma of 16-bit floats, element by element.
  auto fuse = [&](IRBuilder<> &builder, IntrinsicInst *call) {
    Type *type = call->getType();
    const char *callee =
        isBfloat(type) ? "ampc_sim_fma_bf16" : "ampc_sim_fma_f16";
    auto one = [&](auto operandAt) {
      SmallVector<Value *> bits;
      for (unsigned i = 0; i < 3; ++i) {
        bits.push_back(builder.CreateBitCast(operandAt(i), i16));
      }
      return builder.CreateBitCast(callDirect(builder, callee, i16, bits),
                                   type->getScalarType());
    };
    auto *vector = dyn_cast<FixedVectorType>(type);
    if (!vector) {
      return one([&](unsigned i) { return call->getArgOperand(i); });
    }
    Value *result = PoisonValue::get(type);
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      Value *element = one([&](unsigned i) {
        return builder.CreateExtractElement(call->getArgOperand(i), lane);
      });
      result = builder.CreateInsertElement(result, element, lane);
    }
    return result;
  };
  for (Instruction *instruction : all) {
    IRBuilder<> builder(instruction);
    Type *type = instruction->getType();
    Value *result = nullptr;
    if (auto *cast = dyn_cast<FPTruncInst>(instruction);
        cast && isBfloat(type)) {
      Value *from = cast->getOperand(0);
      if (from->getType()->getScalarType()->isFloatTy()) {
        result = narrow(builder, from);
      }
    } else if (auto *cast = dyn_cast<FPExtInst>(instruction);
               cast && isBfloat(cast->getSrcTy())) {
      result = builder.CreateFPExt(widen(builder, cast->getOperand(0)), type);
    } else if (auto *binary = dyn_cast<BinaryOperator>(instruction);
               binary && isBfloat(type)) {
      // 24 bits hold twice 8 and more: rounding again changes nothing.
      result = narrow(
          builder, builder.CreateBinOp(binary->getOpcode(),
                                       widen(builder, binary->getOperand(0)),
                                       widen(builder, binary->getOperand(1))));
    } else if (auto *compare = dyn_cast<FCmpInst>(instruction);
               compare && isBfloat(compare->getOperand(0)->getType())) {
      result = builder.CreateFCmp(compare->getPredicate(),
                                  widen(builder, compare->getOperand(0)),
                                  widen(builder, compare->getOperand(1)));
    } else if (isa<SIToFPInst, UIToFPInst>(instruction) && isBfloat(type)) {
      fail(*instruction, "conversion of an integer to bf16 is not supported");
    } else if (auto *call = dyn_cast<IntrinsicInst>(instruction)) {
      Intrinsic::ID id = call->getIntrinsicID();
      bool isMinMax = id == Intrinsic::minnum || id == Intrinsic::maxnum ||
                      id == Intrinsic::minimum || id == Intrinsic::maximum;
      if (isMinMax && isBfloat(type)) {
        result = narrow(builder, builder.CreateBinaryIntrinsic(
                                     id, widen(builder, call->getOperand(0)),
                                     widen(builder, call->getOperand(1))));
      } else if (id == Intrinsic::fma &&
                 (type->getScalarType()->isHalfTy() || isBfloat(type))) {
        result = fuse(builder, call);
      }
    }
    if (result) {
      instruction->replaceAllUsesWith(result);
      instruction->eraseFromParent();
    }
  }
}
