//===- ArenaPlanner.cpp - Offsets for buffers that live at known times ----===//
#include "passes/Memory/ArenaPlanner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace ampc::memory;

int64_t ampc::memory::planArena(llvm::MutableArrayRef<LiveBuffer> buffers,
                                int64_t alignment, int64_t slack) {
  llvm::SmallVector<LiveBuffer *> order;
  for (LiveBuffer &buffer : buffers) {
    order.push_back(&buffer);
  }
  llvm::stable_sort(order, [](const LiveBuffer *lhs, const LiveBuffer *rhs) {
    return lhs->bytes > rhs->bytes;
  });
  int64_t peak = 0;
  // Placed buffers by offset.
  llvm::SmallVector<LiveBuffer *> placed;
  for (LiveBuffer *buffer : order) {
    int64_t offset = 0;
    for (LiveBuffer *other : placed) {
      bool together =
          other->first <= buffer->last && buffer->first <= other->last;
      if (!together) {
        continue;
      }
      if (offset + buffer->bytes <= other->offset) {
        break;
      }
      offset = std::max(offset, static_cast<int64_t>(llvm::alignTo(
                                    other->offset + other->bytes, alignment)));
    }
    buffer->offset = offset;
    peak = std::max(peak, offset + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer,
                                    [](LiveBuffer *lhs, LiveBuffer *rhs) {
                                      return lhs->offset < rhs->offset;
                                    }),
                  buffer);
  }
  return peak == 0 ? 0 : llvm::alignTo(peak + slack, alignment);
}
