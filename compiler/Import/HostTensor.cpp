//===- HostTensor.cpp - Small tensors whose values import knows -----------===//
#include "compiler/Import/HostTensor.h"

#include "dialects/Interfaces/ReferenceInterfaces.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace ampc::importer {

static HostTensor fromStored(const ref::Tensor &stored) {
  HostTensor tensor;
  tensor.type = stored.getType();
  tensor.stored = stored;
  bool isFloat = tensor.isFloat();
  for (int64_t i = 0, size = stored.size(); i < size; ++i) {
    if (isFloat) {
      tensor.floats.push_back(stored.getDouble(i));
    } else {
      tensor.ints.push_back(stored.getInt(i));
    }
  }
  return tensor;
}

std::optional<HostTensor> readHostTensor(ElementsAttr attr) {
  auto type = dyn_cast<RankedTensorType>(attr.getType());
  if (!isa<DenseElementsAttr>(attr) || !type ||
      type.getNumElements() > maxHostElements) {
    return std::nullopt;
  }
  auto stored = ref::Tensor::fromAttribute(attr);
  return stored ? std::optional(fromStored(*stored)) : std::nullopt;
}

DenseElementsAttr makeElementsAttr(const HostTensor &tensor) {
  Type element = tensor.type.getElementType();
  if (auto type = dyn_cast<FloatType>(element)) {
    SmallVector<llvm::APFloat> values;
    for (double value : tensor.floats) {
      llvm::APFloat number(value);
      bool losesInfo = false;
      number.convert(type.getFloatSemantics(),
                     llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      values.push_back(number);
    }
    return DenseElementsAttr::get(tensor.type, values);
  }
  auto type = cast<IntegerType>(element);
  SmallVector<llvm::APInt> values;
  for (int64_t value : tensor.ints) {
    llvm::APInt number(64, static_cast<uint64_t>(value));
    values.push_back(number.trunc(type.getWidth()));
  }
  return DenseElementsAttr::get(tensor.type, values);
}

std::optional<HostTensor> evaluateOp(Operation *op,
                                     ArrayRef<const HostTensor *> operands) {
  auto reference = dyn_cast<ReferenceOpInterface>(op);
  if (!reference) {
    return std::nullopt;
  }
  SmallVector<ref::Tensor> arguments, results;
  for (const HostTensor *operand : operands) {
    arguments.push_back(operand->stored);
  }
  if (failed(reference.evaluate(arguments, results))) {
    return std::nullopt;
  }
  return fromStored(results.front());
}

} // namespace ampc::importer
