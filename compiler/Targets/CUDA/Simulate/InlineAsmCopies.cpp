//===- InlineAsmCopies.cpp - Waits and copies in inline PTX -------------===//
#include "compiler/Targets/CUDA/Simulate/InlineAsm.h"

#include "ampc/sim_abi.h"

using namespace llvm;
using namespace ampc::cuda;

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
