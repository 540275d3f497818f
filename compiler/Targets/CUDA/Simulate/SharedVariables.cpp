//===- SharedVariables.cpp - Globals in shared memory become offsets ------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;
using namespace ampc::cuda;

/// Bytes between variables, which nothing may touch.
static constexpr uint64_t gapBytes = 32;

/// Alignments above this one are those of tiles with a swizzle, which depends
/// on where the window begins.
static constexpr uint64_t maxTestedAlignment = 1024;

/// Places variables one after the other, those of dynamic size last. A variable
/// gets the alignment that the IR asks for and not more, so that code which
/// counts on luck fails here.
void Lowering::placeSharedVariables() {
  const DataLayout &layout = module.getDataLayout();
  auto bytesOf = [&](GlobalVariable *global) {
    return layout.getTypeAllocSize(global->getValueType()).getFixedValue();
  };
  SmallVector<GlobalVariable *> variables, dynamic;
  for (GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() == sharedSpace) {
      (bytesOf(&global) ? variables : dynamic).push_back(&global);
    }
  }
  variables.append(dynamic);
  SmallVector<Constant *> constants(variables.begin(), variables.end());
  convertUsersOfConstantsToInstructions(constants);

  uint64_t end = 0, dynamicAlignment = 1;
  for (GlobalVariable *global : dynamic) {
    dynamicAlignment =
        std::max(dynamicAlignment, global->getAlign().valueOrOne().value());
  }
  DenseMap<GlobalVariable *, uint64_t> offsets;
  auto place = [&](uint64_t alignment) {
    uint64_t offset = alignTo(end + gapBytes, alignment);
    if (alignment < maxTestedAlignment && offset % (2 * alignment) == 0) {
      offset += alignment;
    }
    return offset;
  };
  for (GlobalVariable *global : variables) {
    uint64_t bytes = bytesOf(global);
    StringRef name = global->getName();
    if (bytes == 0 && global->hasInitializer()) {
      fail("shared variable " + name +
           " of no size is not external: NVPTX makes one byte of it");
    }
    // All dynamic variables begin at the same place.
    bool first = bytes != 0 || dynamicOffset == 0;
    uint64_t offset =
        first ? place(bytes ? global->getAlign().valueOrOne().value()
                            : dynamicAlignment)
              : dynamicOffset;
    offsets[global] = offset;
    if (bytes == 0) {
      dynamicOffset = static_cast<uint32_t>(offset);
    } else {
      end = offset + bytes;
    }
    sharedVariables.push_back({name.str(), static_cast<uint32_t>(offset),
                               static_cast<uint32_t>(bytes)});
  }
  staticShared = end ? static_cast<uint32_t>(alignTo(end + gapBytes, 16)) : 0;

  DenseMap<Function *, Instruction *> bases;
  for (GlobalVariable *global : variables) {
    while (!global->use_empty()) {
      Use &use = *global->use_begin();
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user) {
        fail("shared variable " + global->getName() +
             " is used in a global's initializer");
        global->replaceAllUsesWith(PoisonValue::get(global->getType()));
        break;
      }
      Function *function = user->getFunction();
      Instruction *&base = bases[function];
      if (!base) {
        IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
        CallInst *call = callDirect(builder, "ampc_sim_shared_base", i64, {});
        call->setDoesNotAccessMemory();
        base = cast<Instruction>(builder.CreateIntToPtr(
            call, PointerType::get(context, sharedSpace)));
      }
      IRBuilder<> builder(base->getNextNode());
      use.set(builder.CreateConstGEP1_64(i8, base, offsets[global],
                                         global->getName()));
    }
    global->eraseFromParent();
  }
}
