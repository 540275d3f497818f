//===- HostTensor.cpp - Small tensors whose values import knows -----------===//
#include "compiler/Import/HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::importer {

double roundToType(double value, FloatType type) {
  if (type.isF64()) {
    return value;
  }
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

int64_t wrapToType(int64_t value, IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 64) {
    return value;
  }
  uint64_t low =
      static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(width);
  if (width == 1 || type.isUnsigned()) {
    return static_cast<int64_t>(low);
  }
  return llvm::SignExtend64(low, width);
}

std::optional<HostTensor> readHostTensor(ElementsAttr attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  auto type = dyn_cast<RankedTensorType>(attr.getType());
  if (!dense || !type || type.getNumElements() > maxHostElements) {
    return std::nullopt;
  }
  HostTensor tensor;
  tensor.type = type;
  Type element = type.getElementType();
  if (isa<FloatType>(element)) {
    for (llvm::APFloat value : dense.getValues<llvm::APFloat>()) {
      bool losesInfo = false;
      value.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      tensor.floats.push_back(value.convertToDouble());
    }
    return tensor;
  }
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer) {
    return std::nullopt;
  }
  bool zeroExtends = integer.isUnsigned() || integer.getWidth() == 1;
  for (const llvm::APInt &value : dense.getValues<llvm::APInt>()) {
    tensor.ints.push_back(zeroExtends
                              ? static_cast<int64_t>(value.getZExtValue())
                              : value.getSExtValue());
  }
  return tensor;
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
    values.emplace_back(64, static_cast<uint64_t>(value));
    values.back() = values.back().trunc(type.getWidth());
  }
  return DenseElementsAttr::get(tensor.type, values);
}

} // namespace ampc::importer
