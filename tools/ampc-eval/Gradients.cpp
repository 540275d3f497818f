//===- Gradients.cpp - Gradients against differences ----------------------===//
#include "tools/ampc-eval/Gradients.h"

#include "dialects/Amp/Reference/Evaluator.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Training/Passes.h"
#include "tools/ampc-eval/Print.h"
#include "llvm/Support/Format.h"

#include <cstring>

using namespace mlir;
using namespace ampc;

namespace {

constexpr int64_t mostElements = 256;

bool isF64(Type type) { return getElementTypeOrSelf(type).isF64(); }

double *elementsOf(ref::Tensor &tensor) {
  return reinterpret_cast<double *>(tensor.mutableBytes());
}

/// A copy with bytes of its own.
std::optional<ref::Tensor> copyOf(const ref::Tensor &tensor) {
  auto copy = ref::Tensor::allocate(tensor.getType());
  auto full = tensor.expanded();
  if (copy && full) {
    std::memcpy(copy->mutableBytes(), full->getBytes().data(),
                full->getBytes().size());
  }
  return copy;
}

class GradientCheck {
public:
  GradientCheck(func::FuncOp function, uint64_t seed)
      : function(function), seed(seed) {}

  LogicalResult run(double tolerance);

private:
  LogicalResult makeInputs();
  FailureOr<double> getLoss();
  FailureOr<ref::Evaluator::Results> getGradients();

  func::FuncOp function;
  uint64_t seed;
  SmallVector<ref::Tensor> inputs, cotangents;
};

LogicalResult GradientCheck::makeInputs() {
  auto make = [&](Type type) {
    return ref::getByteSize(type)
               ? eval::getRandom(cast<RankedTensorType>(type), seed++)
               : std::nullopt;
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto input = make(function.getArgumentTypes()[i]);
    auto owned = input ? copyOf(*input) : std::nullopt;
    if (!owned) {
      return function.emitError("argument ") << i << " cannot be made";
    }
    auto range = function.getArgAttrOfType<DenseF64ArrayAttr>(i, "amp.range");
    auto limits = function.getArgAttrOfType<DenseI64ArrayAttr>(i, "amp.below");
    if (range && isF64(owned->getType())) {
      double low = range[0], high = range[1];
      for (int64_t e = 0; e < owned->size(); ++e) {
        double &value = elementsOf(*owned)[e];
        value = low + (value + 1) / 2 * (high - low);
      }
    }
    if (limits && owned->getKind() == ref::Kind::I64) {
      auto *values = reinterpret_cast<int64_t *>(owned->mutableBytes());
      for (int64_t e = 0; e < owned->size(); ++e) {
        values[e] %= limits[0];
      }
    }
    inputs.push_back(std::move(*owned));
  }
  for (Type type : function.getResultTypes()) {
    auto cotangent = isF64(type) ? make(type) : std::optional(ref::Tensor());
    if (!cotangent) {
      return function.emitError("no memory for a cotangent");
    }
    cotangents.push_back(std::move(*cotangent));
  }
  return success();
}

FailureOr<double> GradientCheck::getLoss() {
  ref::Evaluator evaluator;
  auto results = evaluator.evaluateFunction(function, inputs);
  if (failed(results)) {
    return failure();
  }
  double loss = 0;
  for (auto [result, cotangent] : llvm::zip_equal(*results, cotangents)) {
    for (int64_t i = 0; cotangent && i < result.size(); ++i) {
      loss += result.getDouble(i) * cotangent.getDouble(i);
    }
  }
  return loss;
}

FailureOr<ref::Evaluator::Results> GradientCheck::getGradients() {
  MLIRContext *context = function.getContext();
  OwningOpRef<ModuleOp> module(ModuleOp::create(function.getLoc()));
  auto clone = cast<func::FuncOp>(function->clone());
  module->push_back(clone);
  auto unit = UnitAttr::get(context);
  for (unsigned i = 0; i < clone.getNumArguments(); ++i) {
    if (isF64(clone.getArgumentTypes()[i])) {
      clone.setArgAttr(i, training::trainableName, unit);
    }
  }
  SmallVector<ref::Tensor> arguments(inputs);
  for (unsigned i = 0; i < clone.getNumResults(); ++i) {
    if (cotangents[i]) {
      clone.setResultAttr(i, training::lossName, unit);
      arguments.push_back(cotangents[i]);
    }
  }
  PassManager passes(context);
  passes.addNestedPass<func::FuncOp>(
      training::createTrainingDifferentiatePass());
  if (failed(passes.run(*module))) {
    return failure();
  }
  ref::Evaluator evaluator;
  auto results = evaluator.evaluateFunction(clone, arguments);
  if (failed(results)) {
    return failure();
  }
  // They may borrow bytes of the module.
  ref::Evaluator::Results owned;
  for (const ref::Tensor &result :
       ArrayRef(*results).drop_front(cotangents.size())) {
    auto copy = copyOf(result);
    if (!copy) {
      return failure();
    }
    owned.push_back(std::move(*copy));
  }
  return owned;
}

LogicalResult GradientCheck::run(double tolerance) {
  if (failed(makeInputs())) {
    return failure();
  }
  auto gradients = getGradients();
  if (failed(gradients)) {
    return failure();
  }
  bool ok = true;
  size_t next = 0;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (!isF64(input.getType())) {
      continue;
    }
    const ref::Tensor &gradient = (*gradients)[next++];
    double largest = 1, worst = 0;
    for (int64_t e = 0; e < gradient.size(); ++e) {
      largest = std::max(largest, std::abs(gradient.getDouble(e)));
    }
    int64_t step =
        llvm::divideCeil(std::max<int64_t>(input.size(), 1), mostElements);
    for (int64_t e = 0; e < input.size(); e += step) {
      double &value = elementsOf(input)[e];
      double at = value, h = 1e-5 * std::max(1.0, std::abs(at));
      value = at + h;
      auto above = getLoss();
      value = at - h;
      auto below = getLoss();
      value = at;
      if (failed(above) || failed(below)) {
        return failure();
      }
      double expected = (*above - *below) / (2 * h);
      double error = std::abs(gradient.getDouble(e) - expected) / largest;
      // NaN is the worst.
      worst = error <= worst ? worst : error;
    }
    llvm::outs() << "@" << function.getName() << ": argument " << i
                 << ": relative error " << llvm::format("%.2g", worst) << "\n";
    ok &= worst <= tolerance;
  }
  return success(ok);
}

} // namespace

LogicalResult eval::checkGradients(func::FuncOp function, uint64_t seed,
                                   double tolerance) {
  return GradientCheck(function, seed).run(tolerance);
}
