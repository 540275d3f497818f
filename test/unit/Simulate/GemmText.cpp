//===- GemmText.cpp - What kernels of matrix products share -------------===//
#include "test/unit/Simulate/GemmText.h"

using namespace ampc::test;

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

std::string ampc::test::workgroupMemory(const std::vector<int> &sizes,
                                        const std::string &type) {
  std::string text = "memref<";
  for (int size : sizes) {
    text += std::to_string(size) + "x";
  }
  return text + type + ", #gpu.address_space<workgroup>>";
}
