//===- OpRunner.h - Single amp ops, compiled and run ----------------------===//
#ifndef AMPC_TEST_UNIT_AMP_OPRUNNER_H
#define AMPC_TEST_UNIT_AMP_OPRUNNER_H

#include "dialects/Amp/IR/AmpOps.h"
#include "test/unit/Amp/Jit.h"
#include "gtest/gtest.h"
#include <cstring>
#include <list>
#include <optional>

namespace ampc::test {

/// One op on the arguments of a function, in a module that owns it.
struct ParsedOp {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr;
};

/// Parses `name {attributes}` of the function type `type`, as in
/// `parseOp("amp.mod", "{fmod = true}", "(tensor<4xf32>, ...) -> ...")`.
ParsedOp parseOp(llvm::StringRef name, llvm::StringRef attributes,
                 llvm::StringRef type);

/// Compiles `op`, an elementwise one, over arrays of its compute types.
std::unique_ptr<Jit> compileElementwise(mlir::Operation *op, int64_t lanes);

/// Compiles result 0 of `op`, an indexed one, over row-major buffers of its
/// compute types, `lanes` elements of the last dimension at a time. Null where
/// the op has no vector form.
std::unique_ptr<Jit> compileIndexed(mlir::Operation *op, int64_t lanes);

/// Runs an elementwise op on `in`, arrays of one size, one and four elements at
/// a time, and expects the same bits of both.
template <typename Out, typename... In>
std::vector<Out> evaluate(llvm::StringRef name, llvm::StringRef attributes,
                          llvm::StringRef type, std::vector<In>... in) {
  ParsedOp parsed = parseOp(name, attributes, type);
  size_t sizes[] = {in.size()...}, size = sizes[0], padded = (size + 3) / 4 * 4;
  (in.resize(padded), ...);
  std::vector<Out> one(padded), four(padded);
  compileElementwise(parsed.op, 1)->run({in.data()..., one.data()}, padded);
  compileElementwise(parsed.op, 4)->run({in.data()..., four.data()}, padded);
  for (size_t i = 0; i < size; ++i) {
    EXPECT_TRUE(one[i] != one[i] || memcmp(&one[i], &four[i], sizeof(Out)) == 0)
        << name.str() << ", element " << i;
  }
  one.resize(size);
  return one;
}

/// A copy of an array that lies against an unmapped page, before its first
/// element or after its last: an access beyond it ends the test.
class GuardedCopy {
public:
  GuardedCopy(const void *data, size_t bytes, bool atEnd);
  GuardedCopy(const GuardedCopy &) = delete;
  ~GuardedCopy();
  const void *get() const { return data; }

private:
  char *pages;
  size_t length;
  void *data;
};

template <typename T>
bool sameBits(const std::vector<T> &lhs, const std::vector<T> &rhs) {
  return lhs.size() == rhs.size() &&
         memcmp(lhs.data(), rhs.data(), lhs.size() * sizeof(T)) == 0;
}

/// What an indexed op computed, and whether it has a form of four lanes.
template <typename T>
struct IndexedResult {
  std::vector<T> values;
  bool vectorized = false;
};

/// Runs an indexed op with guarded operands, by element and, where the op
/// allows, by four; expects the same of all runs.
template <typename Out, typename... In>
IndexedResult<Out>
evaluateIndexed(llvm::StringRef name, llvm::StringRef attributes,
                llvm::StringRef type, const std::vector<In> &...in) {
  ParsedOp parsed = parseOp(name, attributes, type);
  auto shaped = mlir::cast<mlir::ShapedType>(parsed.op->getResult(0).getType());
  IndexedResult<Out> result;
  auto run = [&](const Jit &jit, bool atEnd) {
    std::list<GuardedCopy> copies;
    std::vector<const void *> pointers;
    (pointers.push_back(
         copies.emplace_back(in.data(), in.size() * sizeof(In), atEnd).get()),
     ...);
    std::vector<Out> out(shaped.getNumElements());
    pointers.push_back(out.data());
    jit.run(pointers, 0);
    return out;
  };
  auto scalar = compileIndexed(parsed.op, 1);
  result.values = run(*scalar, /*atEnd=*/false);
  EXPECT_TRUE(sameBits(result.values, run(*scalar, /*atEnd=*/true)));
  if (shaped.getRank() == 0 || shaped.getShape().back() % 4 != 0) {
    return result;
  }
  if (auto vector = compileIndexed(parsed.op, 4)) {
    result.vectorized = true;
    EXPECT_TRUE(sameBits(result.values, run(*vector, /*atEnd=*/false)));
    EXPECT_TRUE(sameBits(result.values, run(*vector, /*atEnd=*/true)));
  }
  return result;
}

/// 0, 1, 2, ...
template <typename T>
std::vector<T> counting(size_t size) {
  std::vector<T> result(size);
  for (size_t i = 0; i < size; ++i) {
    result[i] = static_cast<T>(i);
  }
  return result;
}

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_AMP_OPRUNNER_H
