//===- HopperText.h - What kernels of wgmma share -------------------------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_HOPPERTEXT_H
#define AMPC_TEST_UNIT_SIMULATE_HOPPERTEXT_H

#include "test/unit/Simulate/Hopper.h"

#include <vector>

namespace ampc::test {

inline std::string number(int64_t value) { return std::to_string(value); }

inline const char *const hopperDeclarations = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.mbarrier.init.shared(ptr addrspace(3), i32)
declare void @llvm.nvvm.fence.mbarrier_init.release.cluster()
declare void @llvm.nvvm.fence.proxy.async.shared_cta()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i64 @llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta(ptr addrspace(3), i32)
declare i1 @llvm.nvvm.mbarrier.try.wait.parity.scope.cta.space.cta(ptr addrspace(3), i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.g2s.tile.2d(ptr addrspace(7), ptr addrspace(3), ptr, i32, i32, i16, i64, i1, i1, i32)
declare void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(ptr addrspace(3), ptr, i32, i32, i64, i1)
declare void @llvm.nvvm.cp.async.bulk.commit.group()
declare void @llvm.nvvm.cp.async.bulk.wait.group(i32)
declare void @llvm.nvvm.wgmma.fence.sync.aligned()
declare void @llvm.nvvm.wgmma.commit_group.sync.aligned()
declare void @llvm.nvvm.wgmma.wait_group.sync.aligned(i64)
)";

/// Where wgmma finds a tile in shared memory.
struct Tile {
  int64_t start;           // bytes
  int64_t leading, stride; // of the descriptor, bytes
  int64_t step;            // bytes from one instruction's K to the next
  int64_t bytes;
  std::vector<std::pair<int, int>> boxes; // coordinates of each TMA box
  int64_t boxBytes;
};

/// The tile of `extent` rows or columns, beginning at `start`.
inline Tile layOut(const WgmmaShape &shape, int extent, bool transposed,
                   int64_t start) {
  int row = shape.rowElements(), depth = shape.depth();
  int64_t rowBytes = shape.swizzle ? shape.swizzle : 16;
  Tile tile{start, 16, 0, 0, 0, {}, 0};
  int64_t groups = 8 * rowBytes; // eight rows
  if (!transposed) {
    // Boxes of `row` elements of K by all rows.
    tile.boxBytes = extent * rowBytes;
    for (int k = 0; k < depth; k += row) {
      tile.boxes.push_back({k, 0});
    }
    tile.stride = groups;
    if (!shape.swizzle) {
      tile.leading = tile.boxBytes;
    }
    // An instruction's K is 32 bytes: within the row, or in later boxes.
    tile.step = row >= 2 * shape.k() ? 32 : 32 / rowBytes * tile.boxBytes;
  } else {
    // Boxes of `row` elements of M or N by all of K.
    tile.boxBytes = depth * rowBytes;
    for (int i = 0; i < extent; i += row) {
      tile.boxes.push_back({i, 0});
    }
    tile.leading = shape.swizzle ? tile.boxBytes : groups;
    tile.stride = shape.swizzle ? groups : tile.boxBytes;
    tile.step = shape.k() / 8 * groups;
  }
  tile.bytes = tile.boxBytes * static_cast<int64_t>(tile.boxes.size());
  return tile;
}

/// The constant part of a descriptor.
inline uint64_t descriptorBits(const WgmmaShape &shape, const Tile &tile) {
  uint64_t mode = shape.swizzle == 128  ? 1
                  : shape.swizzle == 64 ? 2
                  : shape.swizzle == 32 ? 3
                                        : 0;
  return mode << 62 | static_cast<uint64_t>(tile.stride >> 4) << 32 |
         static_cast<uint64_t>(tile.leading >> 4) << 16;
}

/// One wgmma and its operands, as LLVM has inline assembly.
class WgmmaText {
public:
  explicit WgmmaText(const WgmmaShape &shape) : shape(shape) {
    registers = shape.halfAccumulators ? shape.n / 4 : shape.n / 2;
    type = shape.halfAccumulators ? "i32" : "float";
    for (int i = 0; i < registers; ++i) {
      structure += (i ? ", " : "") + type;
    }
    structure = "{ " + structure + " }";
  }

  /// `%name = call ... ` with accumulators `sums`, A as operands of the text.
  std::string call(const std::string &name,
                   const std::vector<std::string> &sums,
                   const std::vector<std::string> &a, const std::string &b) {
    int operand = 2 * registers; // after the results and their ties
    std::string results, constraints, ties, arguments, aText;
    for (int i = 0; i < registers; ++i) {
      results += (i ? ", $" : "$") + number(i);
      constraints += type == "i32" ? "=r," : "=f,";
      ties += number(i) + ",";
      arguments += type + " " + sums[static_cast<size_t>(i)] + ", ";
    }
    for (size_t i = 0; i < a.size(); ++i) {
      aText += (i ? ", $" : "$") + number(operand++);
      ties += shape.aInRegisters ? "r," : "l,";
      arguments += (shape.aInRegisters ? "i32 " : "i64 ") + a[i] + ", ";
    }
    if (shape.aInRegisters) {
      aText = "{" + aText + "}";
    }
    std::string flags = shape.type == "tf32" ? ""
                        : shape.aInRegisters
                            ? ", " + number(shape.bTransposed)
                            : ", " + number(shape.aTransposed) + ", " +
                                  number(shape.bTransposed);
    std::string instruction = "wgmma.mma_async.sync.aligned.m64n" +
                              number(shape.n) + "k" + number(shape.k()) +
                              (shape.halfAccumulators ? ".f16." : ".f32.") +
                              shape.type + "." + shape.type;
    return "  %" + name + " = call " + structure +
           " asm sideeffect \"{ .reg .pred p; setp.ne.b32 p, $" +
           number(operand + 1) + ", 0; " + instruction + " {" + results +
           "}, " + aText + ", $" + number(operand) + ", p, 1, 1" + flags +
           "; }\", \"" + constraints + ties + "l,n\"(" + arguments + "i64 " +
           b + ", i32 1)\n";
  }
  std::string extract(const std::string &name, int i) {
    return "  %" + name + "_" + number(i) + " = extractvalue " + structure +
           " %" + name + ", " + number(i) + "\n";
  }

  int registers;
  std::string type, structure;

private:
  const WgmmaShape &shape;
};

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_HOPPERTEXT_H
