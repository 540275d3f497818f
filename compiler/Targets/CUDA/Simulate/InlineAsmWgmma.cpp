//===- InlineAsmWgmma.cpp - wgmma.mma_async in inline PTX ---------------===//
#include "compiler/Targets/CUDA/Simulate/InlineAsm.h"

#include "ampc/sim_abi.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace ampc::cuda;

/// wgmma.mma_async.sync.aligned.m64nNkK.D.A.B {d..}, a, b, p, scale-a,
/// scale-b{, trans-a, trans-b};
bool AsmLowering::lowerWgmma(const PtxStatement &statement) {
  StringRef name = statement.mnemonic;
  if (!name.consume_front("wgmma.mma_async.sync.aligned.m64n")) {
    return false;
  }
  uint32_t n, k;
  if (name.consumeInteger(10, n) || !name.consume_front("k") ||
      name.consumeInteger(10, k) || !name.consume_front(".")) {
    return false;
  }
  auto [out, types] = name.split('.');
  auto [a, b] = types.split('.');
  auto type = StringSwitch<uint32_t>(a)
                  .Case("f16", AMPC_SIM_F16)
                  .Case("bf16", AMPC_SIM_BF16)
                  .Case("tf32", AMPC_SIM_TF32)
                  .Default(AMPC_SIM_F32);
  bool narrow = out == "f16";
  if (a != b || type == AMPC_SIM_F32 || k != (type == AMPC_SIM_TF32 ? 8 : 16) ||
      n < 8 || n > 256 || n % 8 != 0 || (!narrow && out != "f32") ||
      (narrow && type != AMPC_SIM_F16)) {
    return false;
  }
  const auto &given = statement.operands;
  bool inRegisters = given.size() > 1 && given[1].isList;
  size_t flags = type == AMPC_SIM_TF32 ? 0 : inRegisters ? 1 : 2;
  size_t accumulators = narrow ? n / 4 : n / 2;
  if (given.size() != 6 + flags || given[0].tokens.size() != accumulators ||
      given[1].tokens.size() != (inRegisters ? 4 : 1)) {
    return false;
  }
  auto constant = [&](size_t index) -> std::optional<int64_t> {
    auto *value =
        dyn_cast_or_null<ConstantInt>(valueOf(given[index].tokens[0]));
    return value ? std::optional(value->getSExtValue()) : std::nullopt;
  };
  uint32_t imm = inRegisters ? AMPC_SIM_WGMMA_A_IN_REGISTERS : 0;
  const uint32_t bits[2][2] = {
      {AMPC_SIM_WGMMA_NEGATE_A, AMPC_SIM_WGMMA_NEGATE_B},
      {AMPC_SIM_WGMMA_TRANSPOSE_A, AMPC_SIM_WGMMA_TRANSPOSE_B}};
  for (size_t i = 0; i < 2; ++i) {
    std::optional<int64_t> scale = constant(4 + i);
    if (!scale) {
      return false;
    }
    imm |= *scale == -1 ? bits[0][i] : 0;
  }
  for (size_t i = 0; i < flags; ++i) {
    std::optional<int64_t> transposed = constant(6 + i);
    if (!transposed) {
      return false;
    }
    imm |= *transposed ? bits[1][2 - flags + i] : 0;
  }
  SmallVector<Value *> operands;
  for (const PtxToken &token : given[0].tokens) {
    Value *value =
        isOutput(token) ? tied[static_cast<size_t>(token.value)] : nullptr;
    if (!value) {
      return false; // the accumulators are not tied to inputs
    }
    operands.push_back(value);
  }
  for (const PtxToken &token : given[1].tokens) {
    operands.push_back(as(inRegisters ? 'w' : 'l', token));
  }
  operands.push_back(as('l', given[2].tokens[0]));
  operands.push_back(as('w', given[3].tokens[0]));
  if (is_contained(operands, nullptr)) {
    return false;
  }
  uint32_t producer = lowering.nextSite();
  SmallVector<Type *> types32(accumulators, outputType(0));
  auto *resultType = StructType::get(lowering.context, types32);
  Value *result = callPacked(
      statement, "ampc_sim_wgmma", operands, resultType,
      {n << 16 | k, type, narrow ? AMPC_SIM_F16 : AMPC_SIM_F32, imm});
  IRBuilder<> builder(at);
  for (const auto &[i, token] : enumerate(given[0].tokens)) {
    setOutput(token,
              builder.CreateExtractValue(result, static_cast<unsigned>(i)));
  }
  wgmmaSites.push_back(producer);
  return true;
}
