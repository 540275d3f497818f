//===- TuringGemm.cpp - Plain loads, ldmatrix, m16n8k8 ------------------===//
#include "test/unit/Simulate/GemmText.h"

using namespace ampc::test;

namespace {

class TuringGemm : public Gemm {
public:
  using Gemm::Gemm;

private:
  static constexpr int pad = 8; // elements after each row, against conflicts

  std::string sharedType(bool isA) const override {
    return isA ? workgroupMemory({shape.rows, shape.depth + pad}, type)
               : workgroupMemory({shape.depth, shape.columns + pad}, type);
  }
  void copyPart(bool isA);
  void mainLoop() override;
};

void TuringGemm::copyPart(bool isA) {
  int rows = isA ? shape.rows : shape.depth;
  int columns = isA ? shape.depth : shape.columns;
  int perRow = columns / 8, threads = shape.threads();
  std::string k0 = b.mul("%step", shape.depth);
  std::string vector = "vector<8x" + type + ">";
  std::string name = isA ? "A" : "B";
  for (int i = 0; i < rows * perRow / threads; ++i) {
    std::string chunk = b.add(thread, b.constant(i * threads));
    std::string row = b.div(chunk, perRow);
    std::string column = b.mul(b.rem(chunk, perRow), 8);
    std::string fromRow = b.add(isA ? row0 : k0, row);
    std::string fromColumn = b.add(isA ? k0 : column0, column);
    std::string eight =
        b.value("vector.load %" + name + "[" + fromRow + ", " + fromColumn +
                "] {alignment = 16 : i64} : " + global + ", " + vector);
    b.line("vector.store " + eight + ", %s" + name + "[" + row + ", " + column +
           "] {alignment = 16 : i64} : " + sharedType(isA) + ", " + vector);
  }
}

void TuringGemm::mainLoop() {
  std::string laneRow = b.rem(lane, 16);
  openLoop(initialAccumulators(), b.constant(0));
  copyPart(true);
  copyPart(false);
  if (bug != Bug::noBarrierBeforeUse) {
    barrier();
  }
  std::string fragment = "vector<2x2x" + type + ">";
  std::vector<std::string> sums = accumulators;
  if (bug == Bug::divergentMatrix) {
    std::string half =
        b.value("arith.cmpi ult, " + lane + ", " + b.constant(16) + " : index");
    b.line("scf.if " + half + " {");
    b.value("nvgpu.ldmatrix %sA[" + laneRow + ", " + b.constant(0) +
            "] {numTiles = 2 : i32, transpose = false} : " + sharedType(true) +
            " -> " + fragment);
    b.line("}");
  }
  for (int k = 0; k < shape.depth; k += 8) {
    std::vector<std::string> a;
    for (int i = 0; i < tilesM; ++i) {
      std::string row = b.add(b.add(warpRow, laneRow), b.constant(16 * i));
      a.push_back(b.value("nvgpu.ldmatrix %sA[" + row + ", " + b.constant(k) +
                          "] {numTiles = 2 : i32, transpose = false} : " +
                          sharedType(true) + " -> " + fragment));
    }
    for (int j = 0; j < tilesN; ++j) {
      std::string column = b.add(warpColumn, b.constant(8 * j));
      std::string row = b.add(b.rem(lane, 8), b.constant(k));
      std::string one = b.value(
          "nvgpu.ldmatrix %sB[" + row + ", " + column +
          "] {numTiles = 1 : i32, transpose = true} : " + sharedType(false) +
          " -> vector<1x2x" + type + ">");
      for (int i = 0; i < tilesM; ++i) {
        auto at = static_cast<size_t>(i * tilesN + j);
        sums[at] = multiply(a[static_cast<size_t>(i)], one, sums[at], 8);
      }
    }
  }
  if (bug != Bug::noBarrierAfterUse) {
    barrier();
  }
  closeLoop(sums);
}

} // namespace

std::string ampc::test::turingGemm(const GemmShape &shape, Bug bug) {
  return TuringGemm(shape, bug).build();
}
