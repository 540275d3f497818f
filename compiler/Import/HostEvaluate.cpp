//===- HostEvaluate.cpp - Shape arithmetic at import ----------------------===//
#include "compiler/Import/HostTensor.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ampc::importer {
namespace {

using Operands = ArrayRef<const HostTensor *>;
using Result = std::optional<HostTensor>;

/// Row-major strides.
SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i) {
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  }
  return strides;
}

/// Calls `visit(index)` for each multi-index of `shape` in row-major order.
template <typename Visit>
void forEachIndex(ArrayRef<int64_t> shape, Visit visit) {
  if (llvm::is_contained(shape, 0)) {
    return;
  }
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(ArrayRef<int64_t>(index));
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) {
      index[--dim] = 0;
    }
    if (dim == 0) {
      return;
    }
  }
}

HostTensor allocate(Type type) {
  HostTensor tensor;
  tensor.type = cast<RankedTensorType>(type);
  if (tensor.isFloat()) {
    tensor.floats.reserve(tensor.size());
  } else {
    tensor.ints.reserve(tensor.size());
  }
  return tensor;
}

void push(HostTensor &to, const HostTensor &from, int64_t flat) {
  if (to.isFloat()) {
    to.floats.push_back(from.floats[flat]);
  } else {
    to.ints.push_back(from.ints[flat]);
  }
}

/// A result whose element at each index is the input's at `source(index)`.
template <typename Source>
Result pick(Type type, const HostTensor &input, Source source) {
  HostTensor result = allocate(type);
  forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> index) {
    push(result, input, source(index));
  });
  return result;
}

/// The flat position of a result index in an operand broadcast to the result.
int64_t broadcastPosition(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                          ArrayRef<int64_t> index) {
  int64_t position = 0;
  size_t skipped = index.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    position += shape[i] == 1 ? 0 : strides[i] * index[skipped + i];
  }
  return position;
}

/// Applies `visit(positions)` at each result index; `positions` are those of
/// the broadcast operands.
template <typename Visit>
void forEachBroadcast(ArrayRef<int64_t> shape, Operands operands, Visit visit) {
  SmallVector<SmallVector<int64_t>> strides;
  for (const HostTensor *operand : operands) {
    strides.push_back(stridesOf(operand->type.getShape()));
  }
  SmallVector<int64_t> positions(operands.size());
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [i, operand] : llvm::enumerate(operands)) {
      positions[i] =
          broadcastPosition(operand->type.getShape(), strides[i], index);
    }
    visit(ArrayRef<int64_t>(positions));
  });
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Integers wrap: computed without signed overflow.
int64_t wrapping(uint64_t value) { return static_cast<int64_t>(value); }

int64_t divide(int64_t lhs, int64_t rhs, bool isUnsigned) {
  if (rhs == 0) {
    return 0;
  }
  if (isUnsigned) {
    return wrapping(static_cast<uint64_t>(lhs) / static_cast<uint64_t>(rhs));
  }
  return rhs == -1 ? wrapping(-static_cast<uint64_t>(lhs)) : lhs / rhs;
}

int64_t remainder(int64_t lhs, int64_t rhs, bool isUnsigned, bool fmod) {
  if (rhs == 0 || (rhs == -1 && !isUnsigned)) {
    return 0;
  }
  if (isUnsigned) {
    return wrapping(static_cast<uint64_t>(lhs) % static_cast<uint64_t>(rhs));
  }
  int64_t rest = lhs % rhs;
  return !fmod && rest != 0 && (rest < 0) != (rhs < 0) ? rest + rhs : rest;
}

bool isLess(int64_t lhs, int64_t rhs, bool isUnsigned) {
  return isUnsigned ? static_cast<uint64_t>(lhs) < static_cast<uint64_t>(rhs)
                    : lhs < rhs;
}

/// The integer result, or nothing for an op that integers do not have.
std::optional<int64_t> computeInt(Operation *op, int64_t l, int64_t r,
                                  bool isUnsigned) {
  auto u = [](int64_t value) { return static_cast<uint64_t>(value); };
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<amp::AddOp>([&](auto) { return wrapping(u(l) + u(r)); })
      .Case<amp::SubOp>([&](auto) { return wrapping(u(l) - u(r)); })
      .Case<amp::MulOp>([&](auto) { return wrapping(u(l) * u(r)); })
      .Case<amp::DivOp>([&](auto) { return divide(l, r, isUnsigned); })
      .Case<amp::ModOp>([&](amp::ModOp mod) {
        return remainder(l, r, isUnsigned, mod.getFmod());
      })
      .Case<amp::MaxOp>([&](auto) { return isLess(l, r, isUnsigned) ? r : l; })
      .Case<amp::MinOp>([&](auto) { return isLess(l, r, isUnsigned) ? l : r; })
      .Case<amp::AndOp>([&](auto) { return l & r; })
      .Case<amp::OrOp>([&](auto) { return l | r; })
      .Case<amp::XorOp>([&](auto) { return l ^ r; })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<double> computeFloat(Operation *op, double l, double r) {
  if (std::isnan(l) || std::isnan(r)) {
    return std::nullopt; // shapes are not made of NaN
  }
  return llvm::TypeSwitch<Operation *, std::optional<double>>(op)
      .Case<amp::AddOp>([&](auto) { return l + r; })
      .Case<amp::SubOp>([&](auto) { return l - r; })
      .Case<amp::MulOp>([&](auto) { return l * r; })
      .Case<amp::DivOp>([&](auto) { return l / r; })
      .Case<amp::MaxOp>([&](auto) { return std::max(l, r); })
      .Case<amp::MinOp>([&](auto) { return std::min(l, r); })
      .Default([](Operation *) { return std::nullopt; });
}

Result evaluateBinary(Operation *op, Operands operands) {
  HostTensor result = allocate(op->getResult(0).getType());
  const HostTensor &lhs = *operands[0], &rhs = *operands[1];
  Type element = result.type.getElementType();
  bool isComplete = true;
  forEachBroadcast(result.type.getShape(), operands, [&](ArrayRef<int64_t> at) {
    if (result.isFloat()) {
      auto value = computeFloat(op, lhs.floats[at[0]], rhs.floats[at[1]]);
      isComplete &= value.has_value();
      result.floats.push_back(
          roundToType(value.value_or(0), cast<FloatType>(element)));
      return;
    }
    auto type = cast<IntegerType>(element);
    auto value =
        computeInt(op, lhs.ints[at[0]], rhs.ints[at[1]], type.isUnsigned());
    isComplete &= value.has_value();
    result.ints.push_back(wrapToType(value.value_or(0), type));
  });
  return isComplete ? Result(result) : std::nullopt;
}

template <typename T>
bool compare(amp::ComparePredicate predicate, T lhs, T rhs) {
  switch (predicate) {
  case amp::ComparePredicate::EQ:
    return lhs == rhs;
  case amp::ComparePredicate::NE:
    return lhs != rhs;
  case amp::ComparePredicate::LT:
    return lhs < rhs;
  case amp::ComparePredicate::LE:
    return lhs <= rhs;
  case amp::ComparePredicate::GT:
    return lhs > rhs;
  case amp::ComparePredicate::GE:
    return lhs >= rhs;
  }
  return false;
}

Result evaluateCompare(amp::CompareOp op, Operands operands) {
  HostTensor result = allocate(op.getType());
  const HostTensor &lhs = *operands[0], &rhs = *operands[1];
  auto integer = dyn_cast<IntegerType>(lhs.type.getElementType());
  forEachBroadcast(result.type.getShape(), operands, [&](ArrayRef<int64_t> at) {
    bool holds;
    if (!integer) {
      holds = compare(op.getPredicate(), lhs.floats[at[0]], rhs.floats[at[1]]);
    } else if (integer.isUnsigned()) {
      holds = compare(op.getPredicate(), static_cast<uint64_t>(lhs.ints[at[0]]),
                      static_cast<uint64_t>(rhs.ints[at[1]]));
    } else {
      holds = compare(op.getPredicate(), lhs.ints[at[0]], rhs.ints[at[1]]);
    }
    result.ints.push_back(holds);
  });
  return result;
}

Result evaluateSelect(amp::SelectOp op, Operands operands) {
  HostTensor result = allocate(op.getType());
  forEachBroadcast(result.type.getShape(), operands, [&](ArrayRef<int64_t> at) {
    unsigned chosen = operands[0]->ints[at[0]] ? 1 : 2;
    push(result, *operands[chosen], at[chosen]);
  });
  return result;
}

Result evaluateCast(amp::CastOp op, const HostTensor &input) {
  HostTensor result = allocate(op.getType());
  Type element = result.type.getElementType();
  auto fromInt = dyn_cast<IntegerType>(input.type.getElementType());
  for (int64_t i = 0; i < input.size(); ++i) {
    if (auto type = dyn_cast<FloatType>(element)) {
      double value =
          !fromInt ? input.floats[i]
          : fromInt.isUnsigned()
              ? static_cast<double>(static_cast<uint64_t>(input.ints[i]))
              : static_cast<double>(input.ints[i]);
      result.floats.push_back(roundToType(value, type));
      continue;
    }
    auto type = cast<IntegerType>(element);
    if (fromInt) {
      result.ints.push_back(type.getWidth() == 1
                                ? input.ints[i] != 0
                                : wrapToType(input.ints[i], type));
      continue;
    }
    double value = input.floats[i];
    if (type.getWidth() == 1) {
      result.ints.push_back(value != 0);
      continue;
    }
    // Beyond the range the machine decides, not the importer.
    if (!(std::abs(value) < 9.0e18)) {
      return std::nullopt;
    }
    result.ints.push_back(wrapToType(static_cast<int64_t>(value), type));
  }
  return result;
}

Result evaluateUnary(Operation *op, const HostTensor &input) {
  HostTensor result = allocate(op->getResult(0).getType());
  for (double value : input.floats) {
    auto computed =
        llvm::TypeSwitch<Operation *, std::optional<double>>(op)
            .Case<amp::NegOp>([&](auto) { return -value; })
            .Case<amp::AbsOp>([&](auto) { return std::abs(value); })
            .Case<amp::FloorOp>([&](auto) { return std::floor(value); })
            .Case<amp::CeilOp>([&](auto) { return std::ceil(value); })
            .Case<amp::RoundOp>([&](auto) { return std::nearbyint(value); })
            .Case<amp::SqrtOp>([&](auto) { return std::sqrt(value); })
            .Default([](Operation *) { return std::nullopt; });
    if (!computed) {
      return std::nullopt;
    }
    result.floats.push_back(
        roundToType(*computed, cast<FloatType>(result.type.getElementType())));
  }
  for (int64_t value : input.ints) {
    auto computed =
        llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
            .Case<amp::NegOp>(
                [&](auto) { return wrapping(-static_cast<uint64_t>(value)); })
            .Case<amp::AbsOp>([&](auto) {
              return value < 0 ? wrapping(-static_cast<uint64_t>(value))
                               : value;
            })
            .Case<amp::LogicalNotOp>([&](auto) { return int64_t(value == 0); })
            .Default([](Operation *) { return std::nullopt; });
    if (!computed) {
      return std::nullopt;
    }
    result.ints.push_back(
        wrapToType(*computed, cast<IntegerType>(result.type.getElementType())));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Result evaluateTranspose(amp::TransposeOp op, const HostTensor &input) {
  auto strides = stridesOf(input.type.getShape());
  return pick(op.getType(), input, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [i, dim] : llvm::enumerate(op.getPermutation())) {
      at += strides[dim] * index[i];
    }
    return at;
  });
}

Result evaluateSlice(amp::SliceOp op, const HostTensor &input) {
  auto strides = stridesOf(input.type.getShape());
  return pick(op.getType(), input, [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) {
      at += strides[i] * (op.getStarts()[i] + op.getStrides()[i] * index[i]);
    }
    return at;
  });
}

Result evaluateBroadcast(amp::BroadcastOp op, const HostTensor &input) {
  ArrayRef<int64_t> shape = input.type.getShape();
  auto strides = stridesOf(shape);
  return pick(op.getType(), input, [&](ArrayRef<int64_t> index) {
    return broadcastPosition(shape, strides, index);
  });
}

Result evaluateGather(amp::GatherOp op, Operands operands) {
  const HostTensor &input = *operands[0], &indices = *operands[1];
  auto strides = stridesOf(input.type.getShape());
  auto indexStrides = stridesOf(indices.type.getShape());
  size_t axis = op.getAxis(), indexRank = indices.type.getRank();
  int64_t size = input.type.getDimSize(axis);
  if (size == 0) {
    return std::nullopt;
  }
  return pick(op.getType(), input, [&](ArrayRef<int64_t> index) {
    int64_t indexAt = 0;
    for (size_t i = 0; i < indexRank; ++i) {
      indexAt += indexStrides[i] * index[axis + i];
    }
    int64_t chosen = indices.ints[indexAt];
    chosen =
        std::clamp<int64_t>(chosen < 0 ? chosen + size : chosen, 0, size - 1);
    int64_t at = strides[axis] * chosen;
    for (size_t i = 0; i < strides.size(); ++i) {
      if (i != axis) {
        at += strides[i] * index[i < axis ? i : i + indexRank - 1];
      }
    }
    return at;
  });
}

Result evaluateConcat(amp::ConcatOp op, Operands operands) {
  HostTensor result = allocate(op.getType());
  size_t axis = op.getAxis();
  forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> local(index);
    for (const HostTensor *operand : operands) {
      ArrayRef<int64_t> shape = operand->type.getShape();
      if (local[axis] >= shape[axis]) {
        local[axis] -= shape[axis];
        continue;
      }
      auto strides = stridesOf(shape);
      int64_t at = 0;
      for (size_t i = 0; i < strides.size(); ++i) {
        at += strides[i] * local[i];
      }
      push(result, *operand, at);
      return;
    }
  });
  return result;
}

Result evaluateIota(amp::IotaOp op) {
  HostTensor result = allocate(op.getType());
  Type element = result.type.getElementType();
  forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t value = index[op.getDimension()];
    if (auto type = dyn_cast<FloatType>(element)) {
      result.floats.push_back(roundToType(static_cast<double>(value), type));
    } else {
      result.ints.push_back(wrapToType(value, cast<IntegerType>(element)));
    }
  });
  return result;
}

/// Products and sums of integers: sizes of shapes.
Result evaluateReduce(Operation *op, ArrayRef<int64_t> axes,
                      const HostTensor &input) {
  if (input.isFloat() || input.size() == 0) {
    return std::nullopt;
  }
  HostTensor result = allocate(op->getResult(0).getType());
  auto type = cast<IntegerType>(result.type.getElementType());
  SmallVector<int64_t> kept(input.type.getShape());
  for (int64_t axis : axes) {
    kept[axis] = 1;
  }
  auto strides = stridesOf(kept);
  result.ints.resize(result.size());
  std::vector<bool> isStarted(result.size(), false);
  int64_t flat = 0;
  forEachIndex(input.type.getShape(), [&](ArrayRef<int64_t> index) {
    int64_t at = broadcastPosition(kept, strides, index);
    int64_t value = input.ints[flat++];
    int64_t &sum = result.ints[at];
    auto u = [](int64_t number) { return static_cast<uint64_t>(number); };
    if (!isStarted[at]) {
      isStarted[at] = true;
      sum = value;
    } else if (isa<amp::ReduceProdOp>(op)) {
      sum = wrapToType(wrapping(u(sum) * u(value)), type);
    } else if (isa<amp::ReduceSumOp>(op)) {
      sum = wrapToType(wrapping(u(sum) + u(value)), type);
    } else if (isLess(sum, value, type.isUnsigned()) ==
               isa<amp::ReduceMaxOp>(op)) {
      sum = value;
    }
  });
  return result;
}

} // namespace

Result evaluateOp(Operation *op, Operands operands) {
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<amp::ReshapeOp>([&](amp::ReshapeOp reshape) {
        HostTensor result = *operands[0];
        result.type = reshape.getResult().getType();
        return result;
      })
      .Case<amp::TransposeOp>(
          [&](auto op) { return evaluateTranspose(op, *operands[0]); })
      .Case<amp::SliceOp>(
          [&](auto op) { return evaluateSlice(op, *operands[0]); })
      .Case<amp::BroadcastOp>(
          [&](auto op) { return evaluateBroadcast(op, *operands[0]); })
      .Case<amp::GatherOp>(
          [&](auto op) { return evaluateGather(op, operands); })
      .Case<amp::ConcatOp>(
          [&](auto op) { return evaluateConcat(op, operands); })
      .Case<amp::CastOp>(
          [&](auto op) { return evaluateCast(op, *operands[0]); })
      .Case<amp::CompareOp>(
          [&](auto op) { return evaluateCompare(op, operands); })
      .Case<amp::SelectOp>(
          [&](auto op) { return evaluateSelect(op, operands); })
      .Case<amp::IotaOp>([&](auto op) { return evaluateIota(op); })
      .Case<amp::ReduceProdOp, amp::ReduceSumOp, amp::ReduceMaxOp,
            amp::ReduceMinOp>([&](auto reduce) {
        return evaluateReduce(op, reduce.getAxes(), *operands[0]);
      })
      .Case<amp::AddOp, amp::SubOp, amp::MulOp, amp::DivOp, amp::ModOp,
            amp::MaxOp, amp::MinOp, amp::AndOp, amp::OrOp, amp::XorOp>(
          [&](auto) { return evaluateBinary(op, operands); })
      .Case<amp::NegOp, amp::AbsOp, amp::FloorOp, amp::CeilOp, amp::RoundOp,
            amp::SqrtOp, amp::LogicalNotOp>(
          [&](auto) { return evaluateUnary(op, *operands[0]); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace ampc::importer
