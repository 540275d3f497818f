//===- Lowering.h - What the steps of the lowering share ------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_SIMULATE_LOWERING_H
#define AMPC_COMPILER_TARGETS_CUDA_SIMULATE_LOWERING_H

#include "compiler/Targets/CUDA/Simulate/Simulate.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <string>

namespace ampc::cuda {

/// The address space of shared memory.
constexpr unsigned sharedSpace = 3;

/// Bytes before and after each shared variable, which nothing may touch.
constexpr uint64_t gapBytes = 32;

/// A variable in shared memory and where it was placed.
struct SharedVariable {
  std::string name;
  uint32_t offset, bytes;                         // 0 bytes: dynamic
  llvm::SmallPtrSet<llvm::Function *, 4> kernels; // that use it
};

/// Static data of an instruction, as its function in the simulator wants it.
using Immediates = llvm::SmallVector<uint32_t, 5>;

class Lowering {
public:
  Lowering(llvm::Module &module, llvm::TargetMachine &machine,
           const SimulateOptions &options);

  llvm::Error run();

  /// Remembers a problem; lowering goes on, to name all of them.
  void fail(const llvm::Instruction &at, const llvm::Twine &problem);
  void fail(const llvm::Twine &problem);

  /// A new site for `instruction`, as a pointer. `use` is of accesses.
  llvm::Constant *makeSite(const llvm::Instruction &instruction,
                           llvm::StringRef op, llvm::ArrayRef<uint32_t> imm,
                           uint32_t use = 0);
  /// The index of the site that makeSite makes next.
  uint32_t nextSite() const { return static_cast<uint32_t>(sites.size()); }

  /// Calls a function of the simulator before `at`: operands packed, result
  /// unpacked. `resultType` may be void.
  llvm::Value *callPacked(llvm::Instruction &at, llvm::StringRef callee,
                          llvm::StringRef op,
                          llvm::ArrayRef<llvm::Value *> operands,
                          llvm::Type *resultType, llvm::ArrayRef<uint32_t> imm);
  /// Calls one with plain arguments.
  llvm::CallInst *callDirect(llvm::IRBuilderBase &builder,
                             llvm::StringRef callee, llvm::Type *resultType,
                             llvm::ArrayRef<llvm::Value *> operands);
  /// A pointer of any address space, or an integer, as a 64-bit address.
  llvm::Value *asAddress(llvm::IRBuilderBase &builder, llvm::Value *value);

  llvm::Module &module;
  llvm::LLVMContext &context;
  const SimulateOptions &options;
  llvm::Type *voidType, *i1, *i8, *i16, *i32, *i64, *f32;
  llvm::PointerType *pointer;

  // Steps, each in a file of its name.
  void placeSharedVariables();
  void lowerNarrowFloats(llvm::Function &function);
  void instrumentAccesses(llvm::Function &function);
  void lowerCalls(llvm::Function &function);
  void buildKernelTable();

  /// One call; each removes it.
  void lowerIntrinsic(llvm::CallBase &call, llvm::StringRef name);
  void lowerInlineAsm(llvm::CallBase &call);

  /// Results of a wgmma that is site `producer`: their uses get a check.
  void checkUses(llvm::Value *result, uint32_t producer);

private:
  void collectKernels();
  void collectGlobals();
  void retarget();
  void checkFunction(const llvm::Function &function);
  llvm::Constant *text(llvm::StringRef value);
  void placeSharedVariable(llvm::GlobalVariable &variable);
  void replaceSharedVariable(llvm::GlobalVariable &variable, uint64_t offset);

  llvm::TargetMachine &machine;
  llvm::SmallVector<llvm::Function *> kernels;
  llvm::SmallVector<llvm::GlobalVariable *> globals; // not in shared memory
  /// Functions that a kernel calls, itself included.
  llvm::DenseMap<llvm::Function *, llvm::SmallPtrSet<llvm::Function *, 8>>
      reached;
  llvm::SmallVector<SharedVariable> sharedVariables;
  llvm::DenseMap<llvm::Function *, llvm::Instruction *> sharedBases;
  llvm::StructType *siteType;
  llvm::GlobalVariable *siteArray; // replaced when all sites are known
  llvm::SmallVector<llvm::Constant *> sites;
  llvm::StringMap<llvm::Constant *> texts;
  /// Where operands and results are packed, of each function.
  llvm::DenseMap<llvm::Function *,
                 std::pair<llvm::AllocaInst *, llvm::AllocaInst *>>
      buffers;
  llvm::SmallVector<std::string> problems;
};

/// "file:line:column", with where it was inlined; "" if unknown.
std::string describeLocation(const llvm::Instruction &instruction);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_SIMULATE_LOWERING_H
