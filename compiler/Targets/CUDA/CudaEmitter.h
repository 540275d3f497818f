//===- CudaEmitter.h - Kernels as functions of a GPU ----------------------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_CUDAEMITTER_H
#define AMPC_COMPILER_TARGETS_CUDA_CUDAEMITTER_H

#include "ampc/abi.h"
#include "compiler/Targets/CUDA/Architectures.h"
#include "compiler/Targets/Codegen/KernelEmitter.h"
#include "compiler/Targets/Codegen/RowWalker.h"
#include "compiler/Targets/Target.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace ampc::cuda {

using codegen::ElementPuller;

/// Emits a kernel as `func(buffer: !llvm.ptr, ...)`, a pointer for each
/// argument and result, with one thread for each work item or, when the launch
/// has a group, one block. The scratch of a block is the dynamic shared memory.
class CudaEmitter final : public codegen::KernelEmitter {
public:
  /// Threads of a block that has one work item for each.
  static constexpr int64_t blockThreads = 256;

  CudaEmitter(amp::KernelOp kernel, mlir::func::FuncOp function,
              const codegen::KernelTraits &traits,
              const CudaArchitecture &architecture,
              llvm::ArrayRef<ContractionRule> contractionRules)
      : KernelEmitter(kernel, function, traits), architecture(architecture),
        contractionRules(contractionRules), hasWideMma(architecture.hasBf16),
        sharedBytes(architecture.getSharedBytes()) {}

  void reset() override;
  void forEachItem(llvm::function_ref<void(mlir::Value item)> body) override;
  mlir::Value scratchPointer(int64_t offset) override;
  std::unique_ptr<codegen::RowWalker>
  makeRowWalker(const codegen::RowSpace &space, int64_t lanes) override;

  /// Shares each work item among a block of `threads` threads.
  void forEachBlock(int64_t threads,
                    llvm::function_ref<void(mlir::Value item)> body);

  /// A pointer to `bytes` of static shared memory, 16-byte aligned.
  mlir::Value reserveShared(int64_t bytes);

  /// Asks for `bytes` of the workspace that all blocks of a launch share; it is
  /// zeros before the first launch of a program, and then as kernels leave it.
  void reserveWorkspace(int64_t bytes);
  /// A pointer to it.
  mlir::Value workspace();

  mlir::Value threadIndex(); ///< in the block, of type index
  mlir::Value blockIndex();
  void barrier(); ///< of the block

  const CudaArchitecture &architecture;
  const llvm::ArrayRef<ContractionRule> contractionRules;
  /// Whether mma.sync takes bf16, tf32 and 16 elements along k (sm_80).
  const bool hasWideMma;
  /// Shared memory that a block can have.
  const int64_t sharedBytes;

  /// Adds a tensor map to the launch; the kernel's pointer to it.
  mlir::Value addTensorMap(const ampc_gpu_tensor_map &map);
  /// In the order of the parameters, which follow the buffers.
  llvm::SmallVector<ampc_gpu_tensor_map, 2> tensorMaps;

  /// What scratch is aligned to, in bytes: 16, or 1024 where a swizzle depends
  /// on the address. Set before the first use of scratch.
  int64_t scratchAlignment = 16;
  /// Blocks that share a multiprocessor and its registers; 0: as it comes.
  int64_t blocksPerMultiprocessor = 0;

  /// `value` (a scalar) of the lane whose number differs in the bits `mask`.
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);

  /// `value` (of type index) of the warp's first lane, in all of its lanes.
  mlir::Value broadcastFirst(mlir::Value value);

  /// The values of all `threads` threads of the block combined, in each: by
  /// halving within a warp, then the warps in order.
  mlir::Value reduceBlock(
      mlir::Value value, int64_t threads,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  /// `lhs` < `rhs`, both unsigned.
  mlir::Value isBelow(mlir::Value lhs, int64_t rhs);

  /// The conjunction of two conditions, each of which may be null for true.
  mlir::Value bothOf(mlir::Value lhs, mlir::Value rhs);

  /// Builds `body` under `condition`; null stands for always.
  void onlyIf(mlir::Value condition, llvm::function_ref<void()> body);

  /// Builds `body` for the first thread of the block.
  void onFirstThread(llvm::function_ref<void()> body);

protected:
  int64_t getAlignment(mlir::Value offset, int64_t bytes,
                       int64_t lanes) const override;

private:
  llvm::SmallVector<mlir::LLVM::GlobalOp> reserved;
};

/// The name of the dynamic shared array in a module of kernels; and of that of
/// greater alignment, which begins at the same place.
inline constexpr llvm::StringLiteral dynamicSharedName = "ampc_shared";
inline constexpr llvm::StringLiteral alignedSharedName = "ampc_shared_aligned";

/// A contraction by tiles of its result; fails without a diagnostic where it
/// has no such form.
mlir::LogicalResult emitTiledContraction(CudaEmitter &emitter,
                                         mlir::Operation *root);

/// The same with wgmma, a warpgroup bringing operands that others multiply.
mlir::LogicalResult emitWgmmaKernel(CudaEmitter &emitter,
                                    mlir::Operation *root);

/// A convolution of each channel by itself; fails likewise.
mlir::LogicalResult emitDepthwiseConvolution(CudaEmitter &emitter,
                                             mlir::Operation *root);

mlir::LogicalResult emitAttentionKernel(CudaEmitter &emitter,
                                        mlir::Operation *root);

/// Picks the emitter by the root's fusion kind.
mlir::LogicalResult emitKernel(CudaEmitter &emitter);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_CUDAEMITTER_H
