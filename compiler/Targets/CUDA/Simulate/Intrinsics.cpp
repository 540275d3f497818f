//===- Intrinsics.cpp - llvm.nvvm.* as calls of the simulator -------------===//
//
// A name that no rule knows is an error.
//
//===----------------------------------------------------------------------===//
#include "compiler/Targets/CUDA/Simulate/IntrinsicRules.h"

using namespace llvm;
using namespace ampc::cuda;

namespace {

/// Operands as the simulator takes them: addresses are 64-bit.
SmallVector<Value *> packable(Lowering &lowering, CallBase &call,
                              unsigned count) {
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands;
  for (Value *operand : ArrayRef<Use>(call.arg_begin(), count)) {
    operands.push_back(operand->getType()->isPointerTy()
                           ? lowering.asAddress(builder, operand)
                           : operand);
  }
  return operands;
}

/// Operations that LLVM has, too. Null if `name` is none.
Value *expand(IRBuilder<> &builder, CallBase &call, StringRef name) {
  auto operand = [&](unsigned i) { return call.getArgOperand(i); };
  if (name == "add.rn.f" || name == "add.rn.d") {
    return builder.CreateFAdd(operand(0), operand(1));
  }
  if (name == "mul.rn.f" || name == "mul.rn.d") {
    return builder.CreateFMul(operand(0), operand(1));
  }
  if (name == "div.rn.f" || name == "div.rn.d") {
    return builder.CreateFDiv(operand(0), operand(1));
  }
  if (name == "rcp.rn.f" || name == "rcp.rn.d") {
    Value *one = ConstantFP::get(call.getType(), 1.0);
    return builder.CreateFDiv(one, operand(0));
  }
  if (name == "fma.rn.f" || name == "fma.rn.d") {
    return builder.CreateIntrinsic(Intrinsic::fma, {call.getType()},
                                   {operand(0), operand(1), operand(2)});
  }
  if (name == "sqrt.rn.f" || name == "sqrt.rn.d" || name == "sqrt.f") {
    return builder.CreateUnaryIntrinsic(Intrinsic::sqrt, operand(0));
  }
  if (name == "fmin.f" || name == "fmin.d") {
    return builder.CreateBinaryIntrinsic(Intrinsic::minnum, operand(0),
                                         operand(1));
  }
  if (name == "fmax.f" || name == "fmax.d") {
    return builder.CreateBinaryIntrinsic(Intrinsic::maxnum, operand(0),
                                         operand(1));
  }
  if (name == "fabs.f32" || name == "fabs.f" || name == "fabs.f64") {
    return builder.CreateUnaryIntrinsic(Intrinsic::fabs, operand(0));
  }
  if (name.starts_with("move.") ||
      name.starts_with("internal.addrspace.wrap")) {
    return builder.CreatePointerBitCastOrAddrSpaceCast(operand(0),
                                                       call.getType());
  }
  return nullptr;
}

/// Conversions to packed 16-bit floats and to tf32.
Value *convert(Lowering &lowering, IRBuilder<> &builder, CallBase &call,
               StringRef name) {
  auto narrow = [&](const char *callee, Value *value) {
    return lowering.callDirect(builder, callee, lowering.i16, {value});
  };
  if (name == "f2tf32.rna" || name == "f2tf32.rn") {
    return lowering.callDirect(builder,
                               name.ends_with("rna") ? "ampc_sim_to_tf32_away"
                                                     : "ampc_sim_to_tf32_even",
                               lowering.i32, {call.getArgOperand(0)});
  }
  if (name == "f2bf16.rn") {
    return builder.CreateBitCast(
        narrow("ampc_sim_to_bf16", call.getArgOperand(0)), call.getType());
  }
  if (name == "ff2bf16x2.rn" || name == "ff2f16x2.rn") {
    const char *callee =
        name == "ff2f16x2.rn" ? "ampc_sim_to_f16" : "ampc_sim_to_bf16";
    // The first operand is the upper half.
    Value *high =
        builder.CreateZExt(narrow(callee, call.getArgOperand(0)), lowering.i32);
    Value *low =
        builder.CreateZExt(narrow(callee, call.getArgOperand(1)), lowering.i32);
    return builder.CreateBitCast(
        builder.CreateOr(builder.CreateShl(high, 16), low), call.getType());
  }
  return nullptr;
}

} // namespace

void Lowering::lowerIntrinsic(CallBase &call, StringRef name) {
  IRBuilder<> builder(&call);
  auto replace = [&](Value *with) {
    if (with && !call.getType()->isVoidTy()) {
      call.replaceAllUsesWith(with);
    }
    call.eraseFromParent();
  };
  if (std::optional<PackedCall> packed = findPackedCall(name)) {
    if (packed->multicast) {
      auto *flag =
          dyn_cast<ConstantInt>(call.getArgOperand(*packed->multicast));
      if (!flag || !flag->isZero()) {
        fail(call, "multicast to the blocks of a cluster is not supported");
      }
    }
    unsigned count = packed->operands.value_or(call.arg_size());
    return replace(callPacked(call, packed->callee, name,
                              packable(*this, call, count), call.getType(),
                              packed->imm));
  }
  if (const char *callee = findDirectCall(name)) {
    return replace(callDirect(builder, callee, call.getType(),
                              SmallVector<Value *>(call.args())));
  }
  if (hasNoEffect(name)) {
    return replace(nullptr);
  }
  if (Value *value = expand(builder, call, name)) {
    return replace(value);
  }
  if (Value *value = convert(*this, builder, call, name)) {
    return replace(value);
  }
  if (name == "isspacep.shared" || name == "isspacep.global") {
    Value *shared = callDirect(builder, "ampc_sim_is_shared", i8,
                               {asAddress(builder, call.getArgOperand(0))});
    return replace(name.ends_with("shared") ? builder.CreateIsNotNull(shared)
                                            : builder.CreateIsNull(shared));
  }
  if (name == "exit") {
    return replace(callDirect(builder, "ampc_sim_exit", voidType, {}));
  }
  StringRef rest = name;
  if (rest.consume_front("read.ptx.sreg.")) {
    if (rest == "clock64" || rest == "clock" || rest == "globaltimer") {
      Value *time = callDirect(builder, "ampc_sim_clock", i64, {});
      return replace(builder.CreateTrunc(time, call.getType()));
    }
    if (std::optional<uint32_t> which = findRegister(rest)) {
      CallInst *read = callDirect(builder, "ampc_sim_register", i32,
                                  {ConstantInt::get(i32, *which)});
      read->setDoesNotAccessMemory();
      return replace(read);
    }
  }
  fail(call, "the intrinsic llvm.nvvm." + name + " is not supported");
}
