//===- SharedVariables.cpp - Globals in shared memory become offsets ------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;
using namespace ampc::cuda;

/// Alignments above this one are those of tiles with a swizzle, which depends
/// on where the window begins.
static constexpr uint64_t maxTestedAlignment = 1024;

/// `kernel` and all that it calls.
static SmallPtrSet<Function *, 8> reachedFrom(Function *kernel) {
  SmallPtrSet<Function *, 8> seen = {kernel};
  SmallVector<Function *> work = {kernel};
  while (!work.empty()) {
    for (Instruction &instruction : instructions(work.pop_back_val())) {
      auto *call = dyn_cast<CallBase>(&instruction);
      Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && seen.insert(callee).second) {
        work.push_back(callee);
      }
    }
  }
  return seen;
}

/// A variable comes after all that its kernels have; so those of different
/// kernels share the same bytes. It gets the alignment that the IR asks for and
/// not more, so that code which counts on luck fails here.
void Lowering::placeSharedVariable(GlobalVariable &variable) {
  uint64_t bytes = module.getDataLayout()
                       .getTypeAllocSize(variable.getValueType())
                       .getFixedValue();
  StringRef name = variable.getName();
  if (bytes == 0 && variable.hasInitializer()) {
    fail("shared variable " + name +
         " of no size is not external: NVPTX makes one byte of it");
  }
  SharedVariable placed{name.str(), 0, static_cast<uint32_t>(bytes), {}};
  for (User *user : variable.users()) {
    auto *instruction = dyn_cast<Instruction>(user);
    for (Function *kernel : kernels) {
      if (instruction && reached[kernel].contains(instruction->getFunction())) {
        placed.kernels.insert(kernel);
      }
    }
  }
  uint64_t end = 0;
  for (const SharedVariable &other : sharedVariables) {
    bool together = any_of(other.kernels, [&](Function *kernel) {
      return placed.kernels.contains(kernel);
    });
    if (together && other.bytes) {
      end = std::max<uint64_t>(end, other.offset + other.bytes);
    }
  }
  uint64_t alignment = variable.getAlign().valueOrOne().value();
  uint64_t offset = alignTo(end + gapBytes, alignment);
  if (alignment < maxTestedAlignment && offset % (2 * alignment) == 0) {
    offset += alignment;
  }
  placed.offset = static_cast<uint32_t>(offset);
  replaceSharedVariable(variable, offset);
  sharedVariables.push_back(std::move(placed));
}

void Lowering::replaceSharedVariable(GlobalVariable &variable,
                                     uint64_t offset) {
  while (!variable.use_empty()) {
    Use &use = *variable.use_begin();
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (!user) {
      fail("shared variable " + variable.getName() +
           " is used in a global's initializer");
      variable.replaceAllUsesWith(PoisonValue::get(variable.getType()));
      break;
    }
    Function *function = user->getFunction();
    Instruction *&base = sharedBases[function];
    if (!base) {
      IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
      CallInst *call = callDirect(builder, "ampc_sim_shared_base", i64, {});
      call->setDoesNotAccessMemory();
      base = cast<Instruction>(
          builder.CreateIntToPtr(call, PointerType::get(context, sharedSpace)));
    }
    IRBuilder<> builder(base->getNextNode());
    use.set(builder.CreateConstGEP1_64(i8, base, offset, variable.getName()));
  }
}

/// Those of fixed size first. Variables of dynamic size begin at one place in a
/// kernel, with the greatest of their alignments.
void Lowering::placeSharedVariables() {
  const DataLayout &layout = module.getDataLayout();
  SmallVector<GlobalVariable *> variables, dynamic;
  Align greatest;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != sharedSpace) {
      continue;
    }
    bool fixed = layout.getTypeAllocSize(global.getValueType()) != 0;
    (fixed ? variables : dynamic).push_back(&global);
    if (!fixed) {
      greatest = std::max(greatest, global.getAlign().valueOrOne());
    }
  }
  for (GlobalVariable *global : dynamic) {
    global->setAlignment(greatest);
  }
  variables.append(dynamic);
  SmallVector<Constant *> constants(variables.begin(), variables.end());
  convertUsersOfConstantsToInstructions(constants);
  for (Function *kernel : kernels) {
    reached[kernel] = reachedFrom(kernel);
  }
  for (GlobalVariable *global : variables) {
    placeSharedVariable(*global);
    global->eraseFromParent();
  }
}
