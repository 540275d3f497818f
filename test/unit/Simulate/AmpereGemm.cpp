//===- AmpereGemm.cpp - cp.async in stages, ldmatrix, m16n8k16 ----------===//
#include "test/unit/Simulate/GemmText.h"

using namespace ampc::test;

namespace {

class AmpereGemm : public Gemm {
public:
  using Gemm::Gemm;

private:
  int buffers() const {
    return shape.stages - (bug == Bug::stageTooFew ? 1 : 0);
  }
  std::string sharedType(bool isA) const override {
    return isA ? workgroupMemory({buffers(), shape.rows, shape.depth}, type)
               : workgroupMemory({buffers(), shape.depth, shape.columns}, type);
  }
  /// Eight-element chunks of a row change places by the row's number, so that
  /// the eight rows of an ldmatrix fall into different banks.
  std::string swizzled(const std::string &row, const std::string &column,
                       int columns) {
    std::string chunk = b.div(column, 8);
    // Rows of 64 bytes: two share the 32 banks.
    std::string key = columns >= 64 ? b.rem(row, 8) : b.rem(b.div(row, 2), 4);
    return b.mul(b.value("arith.xori " + chunk + ", " + key + " : index"), 8);
  }
  void copyPart(const std::string &step, const std::string &stage, bool isA);
  void copyStage(const std::string &step, const std::string &stage) {
    copyPart(step, stage, true);
    copyPart(step, stage, false);
  }
  void commit() {
    group = b.value("\"nvgpu.device_async_create_group\"() : () -> "
                    "!nvgpu.device.async.token");
  }
  std::string load(const std::string &stage, const std::string &row,
                   const std::string &column, bool isA);
  void mainLoop() override;

  std::string group;
};

void AmpereGemm::copyPart(const std::string &step, const std::string &stage,
                          bool isA) {
  int rows = isA ? shape.rows : shape.depth;
  int columns = isA ? shape.depth : shape.columns;
  int perRow = columns / 8, threads = shape.threads();
  std::string k0 = b.mul(step, shape.depth);
  std::string firstRow = isA ? row0 : k0, firstColumn = isA ? k0 : column0;
  int copies = rows * perRow / threads;
  if (bug == Bug::unwrittenTail && isA) {
    --copies;
  }
  for (int i = 0; i < copies; ++i) {
    std::string chunk = b.add(thread, b.constant(i * threads));
    std::string row = b.div(chunk, perRow);
    std::string column = b.mul(b.rem(chunk, perRow), 8);
    std::string from = b.add(firstRow, row);
    if (bug == Bug::rowTooFar && isA) {
      from = b.add(from, b.constant(1));
    }
    std::string to = swizzled(row, column, columns);
    if (bug == Bug::sharedRowTooFar && !isA) {
      row = b.add(row, b.constant(1));
    }
    std::string name = isA ? "A" : "B";
    b.value("nvgpu.device_async_copy %" + name + "[" + from + ", " +
            b.add(firstColumn, column) + "], %s" + name + "[" + stage + ", " +
            row + ", " + to + "], 8 {bypassL1} : " + global + " to " +
            sharedType(isA));
  }
}

std::string AmpereGemm::load(const std::string &stage, const std::string &row,
                             const std::string &column, bool isA) {
  bool transpose = !isA && bug != Bug::notTransposed;
  std::string at = swizzled(row, column, isA ? shape.depth : shape.columns);
  return b.value(
      std::string("nvgpu.ldmatrix %s") + (isA ? "A" : "B") + "[" + stage +
      ", " + row + ", " + at +
      "] {numTiles = 4 : i32, transpose = " + (transpose ? "true" : "false") +
      "} : " + sharedType(isA) + " -> vector<4x2x" + type + ">");
}

void AmpereGemm::mainLoop() {
  int stages = shape.stages;
  std::string laneRow = b.rem(lane, 16), laneColumn = b.mul(b.div(lane, 16), 8);
  std::string rowA = laneRow, columnA = laneColumn;
  if (bug == Bug::swappedLanes) {
    // Matrices 1 and 2 of the four exchanged.
    rowA = b.add(b.rem(lane, 8), b.mul(b.div(lane, 16), 8));
    columnA = b.mul(b.rem(b.div(lane, 8), 2), 8);
  }
  for (int stage = 0; stage < stages - 1; ++stage) {
    std::string index = b.constant(stage);
    std::string some =
        b.value("arith.cmpi ult, " + index + ", " + steps + " : index");
    b.line("scf.if " + some + " {");
    copyStage(index, b.rem(index, buffers()));
    b.line("}");
    commit();
  }
  openLoop(initialAccumulators(), b.constant(0));
  int inFlight = stages - 2 + (bug == Bug::waitTooLate ? 1 : 0);
  if (bug != Bug::noWait) {
    b.line("nvgpu.device_async_wait " + group +
           " {numGroups = " + std::to_string(inFlight) + " : i32}");
  }
  if (bug == Bug::divergentBarrier) {
    std::string half =
        b.value("arith.cmpi ult, " + lane + ", " + b.constant(16) + " : index");
    b.line("scf.if " + half + " {");
    barrier();
    b.line("}");
  } else if (bug != Bug::noBarrierBeforeUse) {
    barrier();
  }
  std::string stage = b.rem("%step", buffers());
  std::string next = b.add("%step", b.constant(stages - 1));
  auto copyNext = [&] {
    std::string more =
        b.value("arith.cmpi ult, " + next + ", " + steps + " : index");
    b.line("scf.if " + more + " {");
    copyStage(next, b.rem(next, buffers()));
    b.line("}");
    commit();
  };
  // One barrier a step is enough: the stage written here was used a step ago.
  if (bug != Bug::noBarrierAfterUse) {
    copyNext();
  }
  std::vector<std::string> sums = accumulators;
  for (int k = 0; k < shape.depth; k += 16) {
    std::vector<std::string> a, fragmentsB;
    for (int i = 0; i < tilesM; ++i) {
      std::string row = b.add(b.add(warpRow, rowA), b.constant(16 * i));
      a.push_back(load(stage, row, b.add(columnA, b.constant(k)), true));
    }
    for (int j = 0; j < tilesN; j += 2) {
      std::string column =
          b.add(b.add(warpColumn, laneColumn), b.constant(8 * j));
      std::string four =
          load(stage, b.add(laneRow, b.constant(k)), column, false);
      for (int half = 0; half < 2; ++half) {
        std::string two = b.value("ub.poison : vector<2x2x" + type + ">");
        for (int r = 0; r < 2; ++r) {
          std::string part = b.value(
              "vector.extract " + four + "[" + std::to_string(2 * half + r) +
              "] : vector<2x" + type + "> from vector<4x2x" + type + ">");
          two = b.value("vector.insert " + part + ", " + two + " [" +
                        std::to_string(r) + "] : vector<2x" + type +
                        "> into vector<2x2x" + type + ">");
        }
        fragmentsB.push_back(two);
      }
    }
    for (int i = 0; i < tilesM; ++i) {
      for (int j = 0; j < tilesN; ++j) {
        auto at = static_cast<size_t>(i * tilesN + j);
        sums[at] = multiply(a[static_cast<size_t>(i)],
                            fragmentsB[static_cast<size_t>(j)], sums[at], 16);
      }
    }
  }
  if (bug == Bug::noBarrierAfterUse) {
    // Into the very stage that slower warps are still reading.
    next = b.add("%step", b.constant(stages));
    copyNext();
  }
  closeLoop(sums);
}

} // namespace

std::string ampc::test::ampereGemm(const GemmShape &shape, Bug bug) {
  return AmpereGemm(shape, bug).build();
}
