//===- GemmText.h - What kernels of matrix products share ---------------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_GEMMTEXT_H
#define AMPC_TEST_UNIT_SIMULATE_GEMMTEXT_H

#include "test/unit/Simulate/Gemm.h"

#include <map>
#include <vector>

namespace ampc::test {

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

/// The type of an array in shared memory.
std::string workgroupMemory(const std::vector<int> &sizes,
                            const std::string &type);

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_GEMMTEXT_H
