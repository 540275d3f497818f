//===- HostTensor.h - Small tensors whose values import knows -------------===//
//
// Shapes, axes, pads and sizes are operands in ONNX but attributes in the amp
// dialect. The importer computes the values of small tensors as it builds the
// ops that produce them.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_COMPILER_IMPORT_HOSTTENSOR_H
#define AMPC_COMPILER_IMPORT_HOSTTENSOR_H

#include "dialects/Amp/Reference/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <vector>

namespace ampc::importer {

/// Values of a static tensor in row-major order. Integers and booleans stand in
/// `ints` (unsigned ones zero-extended), floats in `floats`. The other vector
/// is empty.
struct HostTensor {
  mlir::RankedTensorType type;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  ref::Tensor stored; ///< the same values, once they were evaluated

  bool isFloat() const {
    return mlir::isa<mlir::FloatType>(type.getElementType());
  }
  int64_t size() const { return type.getNumElements(); }
};

/// Larger tensors are never computed at import.
constexpr int64_t maxHostElements = 16384;

/// The values of a dense attribute of at most maxHostElements elements.
std::optional<HostTensor> readHostTensor(mlir::ElementsAttr attr);

/// The attribute with these values, rounded or wrapped to the element type.
mlir::DenseElementsAttr makeElementsAttr(const HostTensor &tensor);

/// Computes the single result of `op` from the values of its operands by the
/// dialect's reference semantics, or nothing when it has none.
std::optional<HostTensor>
evaluateOp(mlir::Operation *op, llvm::ArrayRef<const HostTensor *> operands);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_HOSTTENSOR_H
