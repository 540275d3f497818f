//===- Jit.h - Runs built code in the test's own process ------------------===//
#ifndef AMPC_TEST_UNIT_AMP_JIT_H
#define AMPC_TEST_UNIT_AMP_JIT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>
#include <string>
#include <vector>

namespace ampc::test {

/// A context with everything ampc registers, shared by the tests.
mlir::MLIRContext &getContext();

/// Reads one element, or `lanes` neighbours, of type `element` (a compute type;
/// booleans are bytes) at `base[index]`; `writeLanes` is the reverse.
mlir::Value readLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value base,
                      mlir::Value index, mlir::Type element, int64_t lanes);
void writeLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                mlir::Value base, mlir::Value index);

/// A compiled function of pointers.
class Jit {
public:
  using Body = llvm::function_ref<mlir::LogicalResult(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange pointers)>;

  /// Compiles a function of `pointers` pointers and an element count (of type
  /// index, the last argument of `body`). Empty when `body` fails.
  static std::unique_ptr<Jit> compile(unsigned pointers, Body body);

  void run(llvm::ArrayRef<const void *> pointers, int64_t count) const;

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*entry)(const void *const *, int64_t) = nullptr;
};

/// Compiles out[i] = build(in0[i], in1[i], ...) for `count` elements, a
/// multiple of `lanes`. `inputs` and `result` are compute types.
std::unique_ptr<Jit>
compileMap(llvm::ArrayRef<mlir::Type> inputs, int64_t lanes,
           llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                          mlir::ValueRange)>
               build);

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_AMP_JIT_H
