//===- TrainDialect.cpp - Registration of the train dialect ---------------===//
#include "dialects/Train/IR/TrainDialect.h"

#include <cmath>

using namespace mlir;
using namespace ampc;

#include "dialects/Train/IR/TrainDialect.cpp.inc"
#include "dialects/Train/IR/TrainEnums.cpp.inc"

void train::TrainDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Train/IR/TrainOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dialects/Train/IR/TrainOps.cpp.inc"

LogicalResult train::DropoutOp::verify() {
  double ratio = getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio < 1)) {
    return emitOpError("expected a ratio from 0 to less than 1, got ") << ratio;
  }
  return success();
}

/// Its elements are drawn in the order that they lie in.
std::optional<LayoutRule> train::DropoutOp::getChannelsLastRule() {
  auto type = cast<RankedTensorType>(getInput().getType());
  return type.getRank() < 3 ? std::nullopt : std::optional(LayoutRule{{0}});
}

void train::DropoutOp::setChannelsLast() {}

uint32_t train::BernoulliOp::getThreshold() {
  return static_cast<uint32_t>(
      std::min(std::round(std::ldexp(getProbability().convertToDouble(), 32)),
               static_cast<double>(UINT32_MAX)));
}

LogicalResult train::BernoulliOp::verify() {
  double probability = getProbability().convertToDouble();
  if (!(probability >= 0 && probability < 1)) {
    return emitOpError("expected a probability from 0 to less than 1, got ")
           << probability;
  }
  auto type = cast<RankedTensorType>(getResult().getType());
  if (!type.hasStaticShape() || type.getNumElements() > UINT32_MAX) {
    return emitOpError("expected less than 2^32 elements, got ") << type;
  }
  return success();
}

LogicalResult train::ArenaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape() || type.getRank() != 1) {
    return emitOpError("expected a tensor of rank 1, got ") << type;
  }
  return success();
}

LogicalResult train::StateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape()) {
    return emitOpError("expected a static shape, got ") << type;
  }
  if (getInitial() && getInitial()->getType() != getType()) {
    return emitOpError("expected an initial value of type ")
           << type << ", got " << getInitial()->getType();
  }
  if (!getArena()) {
    return success();
  }
  auto arena = symbols.lookupNearestSymbolFrom<ArenaOp>(*this, getArenaAttr());
  if (!arena) {
    return emitOpError("there is no arena ") << getArenaAttr();
  }
  auto room = cast<RankedTensorType>(arena.getType());
  int64_t offset = *getOffset();
  if (room.getElementType() != type.getElementType() || offset < 0 ||
      offset > room.getNumElements() - type.getNumElements()) {
    return emitOpError("does not fit ") << getArenaAttr() << ", a " << room;
  }
  return success();
}
