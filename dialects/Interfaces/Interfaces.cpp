//===- Interfaces.cpp - Helpers behind the op interfaces ------------------===//
#include "dialects/Interfaces/DifferentiableInterfaces.h"
#include "dialects/Interfaces/FusionInterfaces.h"
#include "dialects/Interfaces/KernelInterfaces.h"
#include "dialects/Interfaces/LayoutInterfaces.h"
#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "dialects/Interfaces/ReferenceInterfaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

#include "dialects/Interfaces/AutocastClass.cpp.inc"
#include "dialects/Interfaces/DifferentiableInterfaces.cpp.inc"
#include "dialects/Interfaces/FusionInterfaces.cpp.inc"
#include "dialects/Interfaces/KernelInterfaces.cpp.inc"
#include "dialects/Interfaces/LayoutInterfaces.cpp.inc"
#include "dialects/Interfaces/PrecisionInterfaces.cpp.inc"
#include "dialects/Interfaces/ReferenceInterfaces.cpp.inc"

bool ampc::isAutocastEligible(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor &&
         (tensor.getElementType().isF32() || tensor.getElementType().isF16() ||
          tensor.getElementType().isBF16());
}

LogicalResult ampc::inferAndSetResultTypes(Operation *op) {
  auto infer = dyn_cast<InferTypeOpInterface>(op);
  if (!infer) {
    return success();
  }
  SmallVector<Type> types;
  if (failed(infer.inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(),
          op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
          op->getRegions(), types))) {
    return failure();
  }
  for (auto [result, type] : llvm::zip_equal(op->getResults(), types)) {
    result.setType(type);
  }
  return success();
}

SmallVector<int64_t> ampc::getChannelsLastPermutation(int64_t rank) {
  SmallVector<int64_t> permutation{0};
  for (int64_t dim = 2; dim < rank; ++dim) {
    permutation.push_back(dim);
  }
  permutation.push_back(1);
  return permutation;
}

SmallVector<int64_t> ampc::getChannelsFirstPermutation(int64_t rank) {
  SmallVector<int64_t> permutation{0, rank - 1};
  for (int64_t dim = 1; dim < rank - 1; ++dim) {
    permutation.push_back(dim);
  }
  return permutation;
}

RankedTensorType ampc::getChannelsLastType(RankedTensorType type,
                                           int64_t rank) {
  SmallVector<int64_t> shape(rank - type.getRank(), 1), permuted;
  llvm::append_range(shape, type.getShape());
  for (int64_t dim : getChannelsLastPermutation(rank)) {
    permuted.push_back(shape[dim]);
  }
  return type.clone(permuted);
}

std::optional<ampc::LayoutRule> ampc::getChannelsLastRule(Operation *op) {
  if (auto layout = dyn_cast<LayoutOpInterface>(op)) {
    return layout.getChannelsLastRule();
  }
  auto fusable = dyn_cast<FusableOpInterface>(op);
  if (!fusable || fusable.getFusionKind() != FusionKind::Elementwise ||
      op->getNumResults() != 1) {
    return std::nullopt;
  }
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result || result.getRank() < 3) {
    return std::nullopt;
  }
  LayoutRule rule;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    rule.operands.push_back(i);
  }
  return rule;
}

void ampc::setChannelsLast(Operation *op) {
  if (auto layout = dyn_cast<LayoutOpInterface>(op)) {
    layout.setChannelsLast();
  }
}

Type ampc::getComputeType(Type element) {
  if (element.isF16() || element.isBF16()) {
    return Float32Type::get(element.getContext());
  }
  if (auto integer = dyn_cast<IntegerType>(element)) {
    return IntegerType::get(element.getContext(), integer.getWidth());
  }
  return element;
}

namespace ampc {

Value ElementBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value ElementBuilder::add(Value lhs, Value rhs) {
  if (matchPattern(lhs, m_Zero())) {
    return rhs;
  }
  if (matchPattern(rhs, m_Zero())) {
    return lhs;
  }
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value ElementBuilder::add(Value lhs, int64_t rhs) {
  APInt constant;
  if (matchPattern(lhs, m_ConstantInt(&constant))) {
    return index(constant.getSExtValue() + rhs);
  }
  return rhs == 0 ? lhs : add(lhs, index(rhs));
}

Value ElementBuilder::mul(Value lhs, int64_t rhs) {
  APInt constant;
  if (matchPattern(lhs, m_ConstantInt(&constant))) {
    return index(constant.getSExtValue() * rhs);
  }
  if (rhs == 1) {
    return lhs;
  }
  return rhs == 0 ? index(0)
                  : arith::MulIOp::create(b, loc, lhs, index(rhs)).getResult();
}

Type ElementBuilder::laneType(Type element) const {
  return lanes == 1 ? element : VectorType::get({lanes}, element);
}

Value ElementBuilder::splat(Value value) {
  if (lanes == 1 || isa<VectorType>(value.getType())) {
    return value;
  }
  return vector::BroadcastOp::create(b, loc, laneType(value.getType()), value);
}

Value ElementBuilder::constant(Type element, double value) {
  Type type = laneType(element);
  TypedAttr attr;
  if (auto floatType = dyn_cast<FloatType>(element)) {
    attr = b.getFloatAttr(floatType, value);
  } else {
    attr = b.getIntegerAttr(element, static_cast<int64_t>(value));
  }
  if (auto vector = dyn_cast<VectorType>(type)) {
    attr = DenseElementsAttr::get(vector, ArrayRef<Attribute>(attr));
  }
  return arith::ConstantOp::create(b, loc, attr);
}

} // namespace ampc
