//===- Gemm.cpp - Tiled matrix products on mma.sync, as MLIR --------------===//
#include "test/unit/Simulate/Gemm.h"

#include <map>
#include <vector>

using namespace ampc::test;

namespace {

/// Text of a kernel's body, value by value.
class Body {
public:
  std::string value(const std::string &op) {
    std::string name = "%v" + std::to_string(count++);
    line(name + " = " + op);
    return name;
  }
  void line(const std::string &text) { lines += "      " + text + "\n"; }
  std::string constant(int number) {
    constants[number] = true;
    return "%c" + std::to_string(number);
  }
  std::string add(const std::string &a, const std::string &b) {
    return value("arith.addi " + a + ", " + b + " : index");
  }
  std::string mul(const std::string &a, int b) {
    return value("arith.muli " + a + ", " + constant(b) + " : index");
  }
  std::string div(const std::string &a, int b) {
    return value("arith.divui " + a + ", " + constant(b) + " : index");
  }
  std::string rem(const std::string &a, int b) {
    return value("arith.remui " + a + ", " + constant(b) + " : index");
  }
  std::string text() const {
    std::string all;
    for (const auto &[number, used] : constants) {
      all += "      %c" + std::to_string(number) + " = arith.constant " +
             std::to_string(number) + " : index\n";
    }
    return all + lines;
  }

private:
  std::string lines;
  std::map<int, bool> constants;
  int count = 0;
};

/// What both kernels have in common: names, the tile's place, fragments.
class Gemm {
public:
  Gemm(const GemmShape &shape, Bug bug) : shape(shape), bug(bug) {
    type = shape.bf16 ? "bf16" : "f16";
    accType = shape.halfAccumulators ? "f16" : "f32";
    global = "memref<?x?x" + type + ">";
    output = "memref<?x?x" + accType + ">";
    tilesM = shape.rows / shape.warpRows / 16;
    tilesN = shape.columns / shape.warpColumns / 8;
  }
  virtual ~Gemm() = default;
  std::string build();

protected:
  /// Declares A's and B's shared memory; loads, multiplies and leaves the
  /// accumulators' names.
  virtual void mainLoop() = 0;
  virtual std::string sharedType(bool isA) const = 0;

  void place();
  void store();
  std::string accumulatorType() const { return "vector<2x2x" + accType + ">"; }
  /// Loop-carried accumulators begin as zeros.
  std::vector<std::string> initialAccumulators() {
    std::string zero =
        b.value("arith.constant dense<0.0> : " + accumulatorType());
    return std::vector<std::string>(static_cast<size_t>(tilesM * tilesN), zero);
  }
  void openLoop(const std::vector<std::string> &initial,
                const std::string &from);
  void closeLoop(const std::vector<std::string> &carried);
  /// mma of the fragments of A and B, with `k` elements.
  std::string multiply(const std::string &fragmentA,
                       const std::string &fragmentB, const std::string &sum,
                       int k);
  void barrier() { b.line("gpu.barrier"); }

  GemmShape shape;
  Bug bug;
  Body b;
  std::string type, accType, global, output;
  int tilesM, tilesN;
  std::string thread, lane, warpRow, warpColumn, row0, column0, steps;
  std::vector<std::string> accumulators;
};

void Gemm::place() {
  thread = b.value("gpu.thread_id x");
  std::string warp = b.div(thread, 32);
  lane = b.rem(thread, 32);
  warpRow = b.mul(b.div(warp, shape.warpColumns), shape.rows / shape.warpRows);
  warpColumn =
      b.mul(b.rem(warp, shape.warpColumns), shape.columns / shape.warpColumns);
  row0 = b.mul(b.value("gpu.block_id y"), shape.rows);
  column0 = b.mul(b.value("gpu.block_id x"), shape.columns);
  std::string depth =
      b.value("memref.dim %A, " + b.constant(1) + " : " + global);
  steps = b.div(depth, shape.depth);
}

void Gemm::openLoop(const std::vector<std::string> &initial,
                    const std::string &from) {
  std::string init, types;
  for (size_t i = 0; i < initial.size(); ++i) {
    std::string name = "%acc" + std::to_string(i);
    init += (i ? ", " : "") + name + " = " + initial[i];
    types += (i ? ", " : "") + accumulatorType();
    accumulators.push_back(name);
  }
  b.line("%sums:" + std::to_string(initial.size()) +
         " = scf.for %step = " + from + " to " + steps + " step " +
         b.constant(1) + " iter_args(" + init + ") -> (" + types + ") {");
}

void Gemm::closeLoop(const std::vector<std::string> &carried) {
  std::string names, types;
  for (size_t i = 0; i < carried.size(); ++i) {
    names += (i ? ", " : "") + carried[i];
    types += (i ? ", " : "") + accumulatorType();
  }
  b.line("scf.yield " + names + " : " + types);
  b.line("}");
}

std::string Gemm::multiply(const std::string &fragmentA,
                           const std::string &fragmentB, const std::string &sum,
                           int k) {
  int perTile = k / 8; // registers of B
  std::string a = "vector<" + std::to_string(2 * perTile) + "x2x" + type + ">";
  std::string bType = "vector<" + std::to_string(perTile) + "x2x" + type + ">";
  if (!shape.bf16) {
    return b.value("nvgpu.mma.sync (" + fragmentA + ", " + fragmentB + ", " +
                   sum + ") {mmaShape = [16, 8, " + std::to_string(k) +
                   "]} : (" + a + ", " + bType + ", " + accumulatorType() +
                   ") -> " + accumulatorType());
  }
  // nvgpu's conversion refuses bf16.
  auto words = [&](const std::string &from, int count,
                   const std::string &fromType) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      std::string pair =
          b.value("vector.extract " + from + "[" + std::to_string(i) +
                  "] : vector<2xbf16> from " + fromType);
      std::string word = b.value("vector.bitcast " + pair +
                                 " : vector<2xbf16> to vector<1xi32>");
      list += (i ? ", " : "") + b.value("vector.extract " + word +
                                        "[0] : i32 from vector<1xi32>");
    }
    return list;
  };
  std::string aWords = words(fragmentA, 2 * perTile, a);
  std::string bWords = words(fragmentB, perTile, bType);
  std::string c;
  for (int i = 0; i < 4; ++i) {
    c += (i ? ", " : "") +
         b.value("vector.extract " + sum + "[" + std::to_string(i / 2) + ", " +
                 std::to_string(i % 2) + "] : f32 from " + accumulatorType());
  }
  std::string result = "!llvm.struct<(f32, f32, f32, f32)>";
  std::string d = b.value(
      "nvvm.mma.sync A[" + aWords + "] B[" + bWords + "] C[" + c +
      "] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
      "multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = "
      "#nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = " +
      std::to_string(k) + ">} : (i32, i32, f32) -> " + result);
  std::string parts;
  for (int i = 0; i < 4; ++i) {
    parts += (i ? ", " : "") + b.value("llvm.extractvalue " + d + "[" +
                                       std::to_string(i) + "] : " + result);
  }
  return b.value("vector.from_elements " + parts + " : " + accumulatorType());
}

void Gemm::store() {
  std::string group = b.div(lane, 4), pair = b.mul(b.rem(lane, 4), 2);
  std::string pairType = "vector<2x" + accType + ">";
  std::string aligned = shape.halfAccumulators ? " {alignment = 4 : i64}"
                                               : " {alignment = 8 : i64}";
  for (int j = 0; j < tilesN; ++j) {
    std::string column =
        b.add(b.add(column0, warpColumn), b.add(pair, b.constant(8 * j)));
    for (int i = 0; i < tilesM; ++i) {
      for (int half = 0; half < 2; ++half) {
        std::string row = b.add(b.add(row0, warpRow),
                                b.add(group, b.constant(16 * i + 8 * half)));
        std::string sum =
            b.value("vector.extract %sums#" + std::to_string(i * tilesN + j) +
                    "[" + std::to_string(half) + "] : " + pairType + " from " +
                    accumulatorType());
        std::string place = "%C[" + row + ", " + column + "]" + aligned +
                            " : " + output + ", " + pairType;
        if (bug == Bug::uninitializedOutput) {
          std::string old = b.value("vector.load " + place);
          sum = b.value("arith.addf " + sum + ", " + old + " : " + pairType);
        }
        b.line("vector.store " + sum + ", " + place);
      }
    }
  }
}

std::string Gemm::build() {
  place();
  mainLoop();
  store();
  std::string align =
      bug == Bug::narrowAlignment ? "" : " {llvm.align = 16 : i64}";
  return "module attributes {gpu.container_module} {\n"
         "  gpu.module @kernels {\n"
         "    gpu.func @gemm(%A: " +
         global + ", %B: " + global + ", %C: " + output +
         ")\n        workgroup(%sA: " + sharedType(true) + align +
         ", %sB: " + sharedType(false) + align +
         ")\n        kernel attributes {known_block_size = array<i32: " +
         std::to_string(shape.threads()) + ", 1, 1>} {\n" + b.text() +
         "      gpu.return\n    }\n  }\n}\n";
}

std::string workgroupMemory(const std::vector<int> &sizes,
                            const std::string &type) {
  std::string text = "memref<";
  for (int size : sizes) {
    text += std::to_string(size) + "x";
  }
  return text + type + ", #gpu.address_space<workgroup>>";
}

//===----------------------------------------------------------------------===//
// sm_80
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// sm_75
//===----------------------------------------------------------------------===//

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

std::string ampc::test::ampereGemm(const GemmShape &shape, Bug bug) {
  return AmpereGemm(shape, bug).build();
}

std::string ampc::test::turingGemm(const GemmShape &shape, Bug bug) {
  return TuringGemm(shape, bug).build();
}
