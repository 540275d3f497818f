//===- Accesses.cpp - A check before every access to memory ---------------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "ampc/sim_abi.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ampc::cuda;

namespace {

/// What an instruction does to memory.
struct Access {
  Value *address;
  Type *type;
  Align alignment;
  uint32_t use;
  const char *verb;
};

uint32_t orderingUse(AtomicOrdering ordering) {
  uint32_t use = AMPC_SIM_ATOMIC;
  if (isAcquireOrStronger(ordering)) {
    use |= AMPC_SIM_ACQUIRE;
  }
  if (isReleaseOrStronger(ordering)) {
    use |= AMPC_SIM_RELEASE;
  }
  return use;
}

std::optional<Access> accessOf(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    uint32_t use = load->isAtomic()     ? orderingUse(load->getOrdering())
                   : load->isVolatile() ? AMPC_SIM_ATOMIC
                                        : 0u;
    return Access{load->getPointerOperand(), load->getType(), load->getAlign(),
                  use & ~static_cast<uint32_t>(AMPC_SIM_RELEASE), "load"};
  }
  if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    uint32_t use = store->isAtomic()     ? orderingUse(store->getOrdering())
                   : store->isVolatile() ? AMPC_SIM_ATOMIC
                                         : 0u;
    use &= ~static_cast<uint32_t>(AMPC_SIM_ACQUIRE);
    return Access{store->getPointerOperand(),
                  store->getValueOperand()->getType(), store->getAlign(),
                  use | AMPC_SIM_WRITE, "store"};
  }
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction)) {
    return Access{
        update->getPointerOperand(), update->getType(), update->getAlign(),
        orderingUse(update->getOrdering()) | AMPC_SIM_WRITE | AMPC_SIM_UPDATE,
        "atomicrmw"};
  }
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    return Access{exchange->getPointerOperand(),
                  exchange->getNewValOperand()->getType(), exchange->getAlign(),
                  orderingUse(exchange->getSuccessOrdering()) | AMPC_SIM_WRITE |
                      AMPC_SIM_UPDATE,
                  "cmpxchg"};
  }
  return std::nullopt;
}

bool isLocal(const Value *address) {
  return isa<AllocaInst>(getUnderlyingObject(address, 16));
}

const char *spaceName(const Value *address) {
  switch (address->getType()->getPointerAddressSpace()) {
  case 1:
    return "global";
  case 3:
    return "shared";
  case 4:
    return "constant";
  case 5:
    return "local";
  default:
    return "generic";
  }
}

} // namespace

void Lowering::instrumentAccesses(Function &function) {
  SmallVector<Instruction *> all;
  for (BasicBlock &block : function) {
    for (Instruction &instruction : block) {
      all.push_back(&instruction);
    }
  }
  for (Instruction *instruction : all) {
    IRBuilder<> builder(instruction);
    if (auto *fence = dyn_cast<FenceInst>(instruction)) {
      callPacked(*fence, "ampc_sim_fence", "fence", {}, voidType, {0});
      continue;
    }
    if (auto *memory = dyn_cast<AnyMemIntrinsic>(instruction)) {
      Value *bytes = builder.CreateZExtOrTrunc(memory->getLength(), i64);
      auto check = [&](Value *address, uint32_t use, StringRef op) {
        if (!isLocal(address)) {
          callDirect(builder, "ampc_sim_range", voidType,
                     {makeSite(*memory, op, {1, 1}, use),
                      asAddress(builder, address), bytes});
        }
      };
      if (auto *transfer = dyn_cast<AnyMemTransferInst>(memory)) {
        check(transfer->getRawSource(), AMPC_SIM_READ, "memory copy");
      }
      check(memory->getRawDest(), AMPC_SIM_WRITE,
            isa<AnyMemSetInst>(memory) ? "memory fill" : "memory copy");
      continue;
    }
    std::optional<Access> access = accessOf(*instruction);
    if (!access || isLocal(access->address)) {
      continue;
    }
    std::string op;
    raw_string_ostream out(op);
    out << access->verb << " " << *access->type << ", "
        << spaceName(access->address) << " memory, align "
        << access->alignment.value();
    auto bytes = static_cast<uint32_t>(
        module.getDataLayout().getTypeStoreSize(access->type).getFixedValue());
    Constant *site = makeSite(
        *instruction, op,
        {bytes, static_cast<uint32_t>(access->alignment.value())}, access->use);
    Value *address = asAddress(builder, access->address);
    callDirect(builder, "ampc_sim_access", voidType, {site, address});
    if (access->use & AMPC_SIM_ATOMIC) {
      builder.SetInsertPoint(instruction->getNextNode());
      callDirect(builder, "ampc_sim_after_atomic", voidType, {site, address});
    }
  }
}
