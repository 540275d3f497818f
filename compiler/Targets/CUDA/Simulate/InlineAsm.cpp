//===- InlineAsm.cpp - Inline PTX as calls of the simulator ---------------===//
//
// MLIR's NVVM dialect still writes some instructions as assembly: wgmma, waits
// in a loop, anything with a predicate. A string is parsed into statements, and
// each statement lowered by its mnemonic.
//
//===----------------------------------------------------------------------===//
#include "compiler/Targets/CUDA/Simulate/InlineAsm.h"

#include "ampc/sim_abi.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace ampc::cuda;

namespace {

/// Instructions whose operands after the result, if they have one, are passed
/// in the order of the text. `words`: how each is passed, 'a' an address, 'w'
/// 32 bits, 'l' 64 bits; the last one repeats. A capital result: 'W' 32 bits,
/// 'L' 64, 'P' a predicate, '_' dropped, '-' none.
struct AsmRule {
  const char *mnemonic, *callee;
  char result;
  const char *words;
  uint32_t imm[2];
};

constexpr uint32_t aligned = AMPC_SIM_BARRIER_ALIGNED;
constexpr uint32_t counted = AMPC_SIM_BARRIER_COUNTED;
constexpr uint32_t arriving = AMPC_SIM_BARRIER_ARRIVE;

constexpr AsmRule rules[] = {
    {"bar.sync", "ampc_sim_barrier", '-', "w", {aligned}},
    {"barrier.sync", "ampc_sim_barrier", '-', "w", {0}},
    {"barrier.sync.aligned", "ampc_sim_barrier", '-', "w", {aligned}},
    {"barrier.cta.sync", "ampc_sim_barrier", '-', "w", {0}},
    {"barrier.cta.sync.aligned", "ampc_sim_barrier", '-', "w", {aligned}},
    {"bar.arrive", "ampc_sim_barrier", '-', "w", {aligned | arriving}},
    {"barrier.arrive", "ampc_sim_barrier", '-', "w", {arriving}},
    {"barrier.cta.arrive", "ampc_sim_barrier", '-', "w", {arriving}},
    {"barrier.cta.arrive.aligned",
     "ampc_sim_barrier",
     '-',
     "w",
     {aligned | arriving}},
    {"mbarrier.init.shared.b64", "ampc_sim_mbarrier_init", '-', "aw", {}},
    {"mbarrier.init.shared::cta.b64", "ampc_sim_mbarrier_init", '-', "aw", {}},
    {"mbarrier.inval.shared.b64", "ampc_sim_mbarrier_inval", '-', "a", {}},
    {"mbarrier.arrive.shared.b64",
     "ampc_sim_mbarrier_arrive",
     'L',
     "aw",
     {AMPC_SIM_ARRIVE_ONCE}},
    {"mbarrier.arrive.shared::cta.b64",
     "ampc_sim_mbarrier_arrive",
     'L',
     "aw",
     {AMPC_SIM_ARRIVE_ONCE}},
    {"mbarrier.arrive.expect_tx.shared.b64",
     "ampc_sim_mbarrier_arrive",
     'L',
     "aw",
     {AMPC_SIM_ARRIVE_BYTES}},
    {"mbarrier.arrive.expect_tx.shared::cta.b64",
     "ampc_sim_mbarrier_arrive",
     'L',
     "aw",
     {AMPC_SIM_ARRIVE_BYTES}},
    {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64",
     "ampc_sim_mbarrier_bytes",
     '-',
     "aw",
     {0}},
    {"prefetch.tensormap", "ampc_sim_tensor_prefetch", '-', "a", {}},
    {"cp.async.bulk.commit_group", "ampc_sim_bulk_commit", '-', "w", {}},
    {"cp.async.bulk.wait_group", "ampc_sim_bulk_wait", '-', "w", {}},
    {"cp.async.bulk.wait_group.read", "ampc_sim_bulk_wait", '-', "w", {}},
    {"cp.async.commit_group", "ampc_sim_cp_async_commit", '-', "w", {}},
    {"cp.async.wait_group", "ampc_sim_cp_async_wait", '-', "w", {0}},
    {"cp.async.wait_all", "ampc_sim_cp_async_wait", '-', "w", {1}},
    {"fence.proxy.async", "ampc_sim_fence", '-', "w", {AMPC_SIM_FENCE_PROXY}},
    {"fence.proxy.async.shared::cta",
     "ampc_sim_fence",
     '-',
     "w",
     {AMPC_SIM_FENCE_PROXY}},
    {"fence.mbarrier_init.release.cluster",
     "ampc_sim_fence",
     '-',
     "w",
     {AMPC_SIM_FENCE_OTHER}},
    {"wgmma.fence.sync.aligned", "ampc_sim_wgmma_fence", '-', "w", {}},
    {"wgmma.commit_group.sync.aligned", "ampc_sim_wgmma_commit", '-', "w", {}},
    {"wgmma.wait_group.sync.aligned", "ampc_sim_wgmma_wait", '-', "l", {}},
    {"setmaxnreg.inc.sync.aligned.u32",
     "ampc_sim_set_max_registers",
     '-',
     "w",
     {}},
    {"setmaxnreg.dec.sync.aligned.u32",
     "ampc_sim_set_max_registers",
     '-',
     "w",
     {}},
    {"activemask.b32", "ampc_sim_active_mask", 'W', "w", {}},
};

struct FloatRule {
  const char *mnemonic, *callee;
};
constexpr FloatRule floatRules[] = {
    {"ex2.approx.f32", "ampc_sim_ex2"},
    {"ex2.approx.ftz.f32", "ampc_sim_ex2_ftz"},
    {"lg2.approx.f32", "ampc_sim_lg2"},
    {"lg2.approx.ftz.f32", "ampc_sim_lg2_ftz"},
    {"rcp.approx.ftz.f32", "ampc_sim_rcp_ftz"},
    {"rsqrt.approx.f32", "ampc_sim_rsqrt"},
    {"rsqrt.approx.ftz.f32", "ampc_sim_rsqrt_ftz"},
    {"sqrt.approx.f32", "ampc_sim_sqrt"},
    {"sqrt.approx.ftz.f32", "ampc_sim_sqrt_ftz"},
    {"tanh.approx.f32", "ampc_sim_tanh"},
    {"sin.approx.f32", "ampc_sim_sin"},
    {"cos.approx.f32", "ampc_sim_cos"},
};

} // namespace

Value *AsmLowering::valueOf(const PtxToken &token) {
  IRBuilder<> builder(at);
  switch (token.kind) {
  case PtxToken::number:
    return builder.getInt64(static_cast<uint64_t>(token.value));
  case PtxToken::name:
    return names.lookup(token.text);
  default:
    break;
  }
  if (token.value < outputs) {
    return results[static_cast<size_t>(token.value)];
  }
  auto index = static_cast<unsigned>(token.value - outputs);
  return index < call.arg_size() ? call.getArgOperand(index) : nullptr;
}

Value *AsmLowering::as(char word, const PtxToken &token) {
  Value *value = valueOf(token);
  IRBuilder<> builder(at);
  if (!value) {
    return nullptr;
  }
  if (word == 'a') {
    return lowering.asAddress(builder, value);
  }
  Type *type = word == 'l' ? lowering.i64 : lowering.i32;
  Type *from = value->getType();
  if (from->isPointerTy()) {
    return builder.CreateTrunc(lowering.asAddress(builder, value), type);
  }
  if (!from->isIntegerTy()) {
    value = builder.CreateBitCast(
        value, builder.getIntNTy(from->getPrimitiveSizeInBits()));
  }
  return builder.CreateZExtOrTrunc(value, type);
}

bool AsmLowering::lowerRule(const PtxStatement &statement) {
  IRBuilder<> builder(at);
  for (const FloatRule &rule : floatRules) {
    if (statement.mnemonic == rule.mnemonic && statement.operands.size() == 2) {
      Value *from = as('w', statement.operands[1].tokens[0]);
      if (!from) {
        return false;
      }
      Value *value =
          lowering.callDirect(builder, rule.callee, lowering.f32,
                              {builder.CreateBitCast(from, lowering.f32)});
      setOutput(statement.operands[0].tokens[0], value);
      return true;
    }
  }
  if (statement.mnemonic == "cvt.rna.tf32.f32" &&
      statement.operands.size() == 2) {
    Value *from = as('w', statement.operands[1].tokens[0]);
    Value *value =
        lowering.callDirect(builder, "ampc_sim_to_tf32_away", lowering.i32,
                            {builder.CreateBitCast(from, lowering.f32)});
    setOutput(statement.operands[0].tokens[0], value);
    return true;
  }
  for (const AsmRule &rule : rules) {
    if (statement.mnemonic != rule.mnemonic) {
      continue;
    }
    SmallVector<PtxToken> tokens;
    for (const PtxOperand &operand : statement.operands) {
      tokens.append(operand.tokens);
    }
    bool gives = rule.result != '-';
    if (gives && tokens.empty()) {
      return false;
    }
    SmallVector<Value *> operands;
    StringRef words = rule.words;
    for (size_t i = gives; i < tokens.size(); ++i) {
      size_t word = std::min(i - gives, words.size() - 1);
      operands.push_back(as(words[word], tokens[i]));
    }
    if (is_contained(operands, nullptr)) {
      return false;
    }
    Immediates imm(std::begin(rule.imm), std::end(rule.imm));
    StringRef callee = rule.callee;
    if (callee == "ampc_sim_barrier" && operands.size() > 1) {
      imm[0] |= counted;
    }
    if (callee == "ampc_sim_mbarrier_arrive" && operands.size() > 1 &&
        imm[0] == AMPC_SIM_ARRIVE_ONCE) {
      imm[0] = AMPC_SIM_ARRIVE_COUNT;
    }
    Type *type = !gives               ? lowering.voidType
                 : rule.result == 'L' ? lowering.i64
                                      : lowering.i32;
    Value *value = callPacked(statement, callee, operands, type, imm);
    if (gives) {
      setOutput(tokens[0], value);
    }
    return true;
  }
  return false;
}

void AsmLowering::lower(const PtxStatement &statement) {
  StringRef mnemonic = statement.mnemonic;
  if (mnemonic.empty() || mnemonic == ".reg") {
    return;
  }
  if (mnemonic == "setp.ne.b32" && statement.operands.size() == 3) {
    Value *a = as('w', statement.operands[1].tokens[0]);
    Value *b = as('w', statement.operands[2].tokens[0]);
    if (a && b) {
      IRBuilder<> builder(at);
      setOutput(statement.operands[0].tokens[0], builder.CreateICmpNE(a, b));
      return;
    }
  }
  Instruction *outer = at;
  if (statement.predicate) {
    Value *condition = valueOf(*statement.predicate);
    if (!condition || !condition->getType()->isIntegerTy(1) || outputs > 0) {
      return unsupported(mnemonic + " with a predicate");
    }
    IRBuilder<> builder(at);
    condition = statement.negated ? builder.CreateNot(condition) : condition;
    at = SplitBlockAndInsertIfThen(condition, at, false);
  }
  bool done = lowerTensorCopy(statement) || lowerCopy(statement) ||
              lowerWgmma(statement) || lowerRule(statement);
  at = outer;
  if (!done) {
    unsupported(statement.mnemonic);
  }
}

void AsmLowering::run() {
  at = &call;
  InlineAsm::ConstraintInfoVector constraints = assembly.ParseConstraints();
  for (const InlineAsm::ConstraintInfo &constraint : constraints) {
    outputs += constraint.Type == InlineAsm::isOutput;
  }
  results.resize(static_cast<size_t>(outputs));
  tied.resize(static_cast<size_t>(outputs));
  unsigned input = 0;
  for (const InlineAsm::ConstraintInfo &constraint : constraints) {
    if (constraint.isIndirect) {
      return unsupported("with an indirect operand");
    }
    if (constraint.Type == InlineAsm::isInput) {
      unsigned output;
      if (!constraint.Codes.empty() &&
          !StringRef(constraint.Codes[0]).getAsInteger(10, output) &&
          output < tied.size()) {
        tied[output] = call.getArgOperand(input);
      }
      ++input;
    }
  }
  StringRef text = assembly.getAsmString();
  auto statements = parsePtx(text);
  if (!statements) {
    return unsupported("'" + text.str() + "'");
  }
  if (!lowerWaitLoop(*statements)) {
    for (const PtxStatement &statement : *statements) {
      lower(statement);
    }
  }
  IRBuilder<> builder(&call);
  if (outputs > 0) {
    auto *structure = dyn_cast<StructType>(call.getType());
    Value *result = PoisonValue::get(call.getType());
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i]) {
        return unsupported("'" + text.str() + "'");
      }
      Value *value = results[i];
      Type *type = outputType(i);
      if (value->getType() != type) {
        value = builder.CreateBitOrPointerCast(value, type);
      }
      result = structure ? builder.CreateInsertValue(result, value,
                                                     static_cast<unsigned>(i))
                         : value;
    }
    call.replaceAllUsesWith(result);
    for (uint32_t site : wgmmaSites) {
      lowering.checkUses(result, site);
    }
  }
  call.eraseFromParent();
}

void Lowering::lowerInlineAsm(CallBase &call) {
  AsmLowering(*this, call).run();
}
