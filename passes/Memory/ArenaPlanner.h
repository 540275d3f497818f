//===- ArenaPlanner.h - Offsets for buffers that live at known times ------===//
#ifndef AMPC_PASSES_MEMORY_ARENAPLANNER_H
#define AMPC_PASSES_MEMORY_ARENAPLANNER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace ampc::memory {

/// A buffer and the steps during which its bytes matter, ends included.
struct LiveBuffer {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  int64_t offset = 0; ///< set by planArena
};

/// Places the buffers so that those alive at one step do not overlap, each at a
/// multiple of `alignment` and followed by `slack` bytes that it may read.
/// Largest first, each at the lowest offset that fits. Returns the peak bytes.
int64_t planArena(llvm::MutableArrayRef<LiveBuffer> buffers, int64_t alignment,
                  int64_t slack);

} // namespace ampc::memory

#endif // AMPC_PASSES_MEMORY_ARENAPLANNER_H
