//===- InstructionMix.h - What the main loop of a kernel is made of -------===//
#ifndef AMPC_COMPILER_TARGETS_CUDA_INSTRUCTIONMIX_H
#define AMPC_COMPILER_TARGETS_CUDA_INSTRUCTIONMIX_H

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace ampc::cuda {

/// The instructions of a loop of a kernel, as they stand in the text: counted
/// once, however often they run.
struct InstructionMix {
  bool isLoop = false; ///< else there is none and the whole kernel is counted
  unsigned total = 0;
  std::map<std::string, unsigned> counts; ///< by kind: "mma", "ld.global", ...
};

/// Which numbers a kernel's products are of.
enum class ProductRate { None, Fp32, Tf32, Half };

/// Of the innermost loop of `symbol` with most matrix products, or, without
/// any, fused products, in a text of PTX.
InstructionMix readPtxMix(llvm::StringRef ptx, llvm::StringRef symbol);

/// The same of what `nvdisasm -c` or `cuobjdump -sass` print.
InstructionMix readSassMix(llvm::StringRef sass, llvm::StringRef symbol);

/// What the matrix instructions of `symbol` multiply; Fp32 where there are
/// only fused products.
ProductRate findProductRate(llvm::StringRef ptx, llvm::StringRef symbol);

} // namespace ampc::cuda

#endif // AMPC_COMPILER_TARGETS_CUDA_INSTRUCTIONMIX_H
