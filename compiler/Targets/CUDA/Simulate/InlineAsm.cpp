//===- InlineAsm.cpp - Inline PTX as calls of the simulator ---------------===//
//
// MLIR's NVVM dialect still writes some instructions as assembly: wgmma, waits
// in a loop, anything with a predicate. A string is parsed into statements, and
// each statement lowered by its mnemonic.
//
//===----------------------------------------------------------------------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"
#include "compiler/Targets/CUDA/Simulate/Ptx.h"

#include "ampc/sim_abi.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
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

/// The lowering of one string.
class AsmLowering {
public:
  AsmLowering(Lowering &lowering, CallBase &call)
      : lowering(lowering), call(call),
        assembly(*cast<InlineAsm>(call.getCalledOperand())) {}

  void run();

private:
  void unsupported(const Twine &what) {
    lowering.fail(call, "the inline assembly " + what + " is not supported");
  }
  void lower(const PtxStatement &statement);
  bool lowerWaitLoop(ArrayRef<PtxStatement> statements);
  bool lowerTensorCopy(const PtxStatement &statement);
  bool lowerCopy(const PtxStatement &statement);
  bool lowerWgmma(const PtxStatement &statement);
  bool lowerRule(const PtxStatement &statement);

  /// A token's value: an operand of the call, a constant, a name set before.
  Value *valueOf(const PtxToken &token);
  Value *as(char word, const PtxToken &token);
  bool isOutput(const PtxToken &token) const {
    return token.kind == PtxToken::operand && token.value < outputs;
  }
  void setOutput(const PtxToken &token, Value *value) {
    if (token.kind == PtxToken::name) {
      names[token.text] = value;
    } else {
      results[static_cast<size_t>(token.value)] = value;
    }
  }
  Type *outputType(size_t index) const {
    auto *structure = dyn_cast<StructType>(call.getType());
    return structure ? structure->getElementType(static_cast<unsigned>(index))
                     : call.getType();
  }
  Value *callPacked(const PtxStatement &statement, StringRef callee,
                    ArrayRef<Value *> operands, Type *type,
                    ArrayRef<uint32_t> imm) {
    return lowering.callPacked(*at, callee, statement.mnemonic, operands, type,
                               imm);
  }

  Lowering &lowering;
  CallBase &call;
  InlineAsm &assembly;
  Instruction *at = nullptr; // statements are lowered before it
  int64_t outputs = 0;
  SmallVector<Value *> results;
  SmallVector<Value *> tied; // inputs that begin as an output's value
  StringMap<Value *> names;
  SmallVector<uint32_t> wgmmaSites;
};

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

/// A loop around try_wait, whatever its labels are: try_wait waits here.
bool AsmLowering::lowerWaitLoop(ArrayRef<PtxStatement> statements) {
  const PtxStatement *wait = nullptr;
  unsigned branches = 0;
  for (const PtxStatement &statement : statements) {
    StringRef mnemonic = statement.mnemonic;
    if (mnemonic.starts_with("mbarrier.try_wait") ||
        mnemonic.starts_with("mbarrier.test_wait")) {
      wait = wait ? nullptr : &statement;
    } else if (mnemonic.starts_with("bra")) {
      ++branches;
    } else if (!mnemonic.empty() && mnemonic != ".reg") {
      return false;
    }
  }
  if (!wait || wait->operands.size() < 3) {
    return false;
  }
  uint32_t parity = wait->mnemonic.contains(".parity");
  bool blocks = branches > 0 || wait->mnemonic.starts_with("mbarrier.try_wait");
  Value *address = as('a', wait->operands[1].tokens[0]);
  Value *value = as(parity ? 'w' : 'l', wait->operands[2].tokens[0]);
  if (!address || !value) {
    return false;
  }
  Value *done = callPacked(*wait, "ampc_sim_mbarrier_wait", {address, value},
                           lowering.i8, {parity, blocks});
  IRBuilder<> builder(at);
  setOutput(wait->operands[0].tokens[0], builder.CreateIsNotNull(done));
  return true;
}

/// cp.async.bulk and cp.async.bulk.tensor in their two directions.
bool AsmLowering::lowerTensorCopy(const PtxStatement &statement) {
  StringRef name = statement.mnemonic;
  if (!name.consume_front("cp.async.bulk.")) {
    return false;
  }
  uint32_t rank = 0;
  if (name.consume_front("tensor.")) {
    if (name.consumeInteger(10, rank) || !name.consume_front("d.")) {
      return false;
    }
  }
  bool load = name.consume_front("shared::cluster.global.") ||
              name.consume_front("shared::cta.global.");
  bool store = !load && name.consume_front("global.shared::cta.");
  name.consume_front("tile.");
  StringRef completion = load ? "mbarrier::complete_tx::bytes" : "bulk_group";
  if ((!load && !store) || name != completion) {
    return false;
  }
  // [shared], [map, {coordinates}], [mbarrier] or [map, {..}], [shared]; not
  // tensors: [shared], [global], bytes, [mbarrier] or [global], [shared], bytes
  SmallVector<PtxToken> tokens;
  for (const PtxOperand &operand : statement.operands) {
    tokens.append(operand.tokens);
  }
  size_t expected = rank ? rank + (load ? 3 : 2) : load ? 4 : 3;
  if (tokens.size() != expected) {
    return false;
  }
  SmallVector<const PtxToken *> addresses, words;
  if (!rank) {
    addresses = {&tokens[0], &tokens[1]};
    words = {&tokens[2]};
    if (load) {
      addresses = {&tokens[0], &tokens[3], &tokens[1]};
    }
  } else {
    size_t map = load ? 1 : 0;
    for (size_t i = 0; i < rank; ++i) {
      words.push_back(&tokens[map + 1 + i]);
    }
    addresses = {load ? &tokens[0] : &tokens.back()};
    if (load) {
      addresses.push_back(&tokens.back());
    }
    addresses.push_back(&tokens[map]);
  }
  SmallVector<Value *> operands;
  for (const PtxToken *token : addresses) {
    operands.push_back(as('a', *token));
  }
  for (const PtxToken *token : words) {
    operands.push_back(as('w', *token));
  }
  if (is_contained(operands, nullptr)) {
    return false;
  }
  StringRef callee =
      rank   ? load ? "ampc_sim_tensor_load" : "ampc_sim_tensor_store"
      : load ? "ampc_sim_bulk_load"
             : "ampc_sim_bulk_store";
  callPacked(statement, callee, operands, lowering.voidType, {rank});
  return true;
}

/// cp.async.ca.shared.global [to], [from], bytes{, bytes to read};
bool AsmLowering::lowerCopy(const PtxStatement &statement) {
  StringRef name = statement.mnemonic;
  if (!name.consume_front("cp.async.")) {
    return false;
  }
  if (!name.consume_front("ca.shared") && !name.consume_front("cg.shared")) {
    return false;
  }
  name.consume_front("::cta");
  const auto &given = statement.operands;
  if (name != ".global" || given.size() < 3 || given.size() > 4 ||
      given[2].tokens[0].kind != PtxToken::number) {
    return false;
  }
  auto bytes = static_cast<uint32_t>(given[2].tokens[0].value);
  SmallVector<Value *> operands = {as('a', given[0].tokens[0]),
                                   as('a', given[1].tokens[0])};
  if (given.size() == 4) {
    operands.push_back(as('w', given[3].tokens[0]));
  }
  if (is_contained(operands, nullptr) ||
      (bytes != 4 && bytes != 8 && bytes != 16)) {
    return false;
  }
  callPacked(statement, "ampc_sim_cp_async", operands, lowering.voidType,
             {bytes, given.size() == 4});
  return true;
}

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

} // namespace

void Lowering::lowerInlineAsm(CallBase &call) {
  AsmLowering(*this, call).run();
}
