//===- HostTensor.h - Small tensors whose values import knows -------------===//
//
// Shapes, axes, pads and sizes are operands in ONNX but attributes in the amp
// dialect. The importer computes the values of small tensors as it builds the
// ops that produce them.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_HOSTTENSOR_H
#define AMPC_COMPILER_IMPORT_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <vector>

namespace ampc::importer {

/// Values of a static tensor in row-major order. Integers and booleans stand in
/// `ints` (unsigned ones zero-extended), floats in `floats`, rounded to the
/// element type. The other vector is empty.
struct HostTensor {
  mlir::RankedTensorType type;
  std::vector<int64_t> ints;
  std::vector<double> floats;

  bool isFloat() const {
    return mlir::isa<mlir::FloatType>(type.getElementType());
  }
  int64_t size() const { return type.getNumElements(); }
};

/// Larger tensors are never computed at import.
constexpr int64_t maxHostElements = 16384;

/// The values of a dense attribute of at most maxHostElements elements.
std::optional<HostTensor> readHostTensor(mlir::ElementsAttr attr);

/// The attribute with these values.
mlir::DenseElementsAttr makeElementsAttr(const HostTensor &tensor);

/// Rounds `value` to the float type.
double roundToType(double value, mlir::FloatType type);
/// Wraps `value` to the width and signedness of the integer type; i1 is 0 or 1.
int64_t wrapToType(int64_t value, mlir::IntegerType type);

/// Computes the single result of `op` from the values of its operands, or
/// nothing when the op is not one that shape arithmetic is made of.
std::optional<HostTensor>
evaluateOp(mlir::Operation *op, llvm::ArrayRef<const HostTensor *> operands);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_HOSTTENSOR_H
