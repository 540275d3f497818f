//===- TrainingOptimizer.cpp - The optimizers of a model's training step --===//
#include "compiler/Import/AttributeReader.h"
#include "compiler/Import/TrainingFormReader.h"
#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace llvm;

namespace ampc::importer {

const onnx::TensorProto *TrainingFormReader::findTensor(StringRef name) const {
  if (const onnx::TensorProto *tensor = tensors.lookup(name)) {
    return tensor;
  }
  TrainingNode *maker = makers.lookup(name);
  if (!maker || maker->node->op_type() != "Constant") {
    return nullptr;
  }
  for (const onnx::AttributeProto &attribute : maker->node->attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) {
      return &attribute.t();
    }
  }
  return nullptr;
}

std::optional<double> TrainingFormReader::findNumber(StringRef name) const {
  const onnx::TensorProto *tensor = findTensor(name);
  if (!tensor) {
    return std::nullopt;
  }
  auto view = readTensor(model, *tensor, name, diags);
  if (!view || view->numElements != 1) {
    return std::nullopt;
  }
  auto load = [&](auto value) {
    std::memcpy(&value, view->bytes.data(), sizeof(value));
    return static_cast<double>(value);
  };
  switch (view->elementType) {
  case onnx::TensorProto::FLOAT:
    return load(float());
  case onnx::TensorProto::DOUBLE:
    return load(double());
  case onnx::TensorProto::INT64:
    return load(int64_t());
  default:
    return std::nullopt;
  }
}

/// The numbers of an optimizer by the names they have in a trainer.
LogicalResult TrainingFormReader::readAttributes(const TrainingNode &step,
                                                 TrainingForm &of) {
  AttributeReader attrs(*step.node, step.label, nullptr, diags);
  auto add = [&](StringRef name, double value) {
    of.numbers.emplace_back(name.str(), value);
  };
  add("weight_decay", attrs.getFloat("norm_coefficient", 0));
  std::string refused;
  if (isTrainingOp(*step.node, "Adam")) {
    of.optimizer = OnnxOptimizer::Adam;
    add("beta1", attrs.getFloat("alpha", 0.9f));
    add("beta2", attrs.getFloat("beta", 0.999f));
    add("epsilon", attrs.getFloat("epsilon", 1e-6f));
    if (attrs.getFloat("norm_coefficient_post", 0) != 0) {
      refused = "norm_coefficient_post";
    }
  } else if (isTrainingOp(*step.node, "Adagrad")) {
    of.optimizer = OnnxOptimizer::Adagrad;
    add("rate_decay", attrs.getFloat("decay_factor", 0));
    add("epsilon", attrs.getFloat("epsilon", 1e-6f));
  } else {
    std::string mode = attrs.getString("mode", "");
    if (mode != "standard" && mode != "nesterov") {
      return diags.invalid(step.label,
                           "expected mode standard or nesterov, got '" +
                               printableName(mode) + "'");
    }
    of.optimizer =
        mode == "nesterov" ? OnnxOptimizer::Nesterov : OnnxOptimizer::Momentum;
    add("momentum", attrs.getFloat("alpha", 0));
    if (attrs.getFloat("beta", 1) != 1) {
      refused = "beta other than 1";
    }
  }
  attrs.finish();
  if (!refused.empty()) {
    return unsupported(step, refused);
  }
  return success(!attrs.hadError());
}

/// States of a trainer begin with zeros.
LogicalResult TrainingFormReader::checkStates(const TrainingNode &step,
                                              ArrayRef<std::string> names) {
  for (const std::string &name : names) {
    const onnx::TensorProto *tensor = findTensor(name);
    if (!tensor) {
      return unsupported(step, "a state, '" + name +
                                   "', that is no "
                                   "initializer");
    }
    auto view = readTensor(model, *tensor, name, diags);
    if (!view) {
      return failure();
    }
    if (any_of(view->bytes, [](uint8_t byte) { return byte != 0; })) {
      return unsupported(step, "a state, '" + name +
                                   "', that does not begin "
                                   "with zeros");
    }
  }
  return success();
}

LogicalResult TrainingFormReader::readOptimizer(TrainingNode &step) {
  const onnx::NodeProto &node = *step.node;
  unsigned slots = countSlots(node);
  int given = node.input_size() - 2;
  if (given <= 0 || given % slots != 0) {
    return diags.invalid(step.label,
                         "expected " + Twine(slots) + " tensors per parameter");
  }
  TrainingForm of;
  if (failed(readAttributes(step, of))) {
    return failure();
  }
  // A learning rate that is an input is an option of the trainer.
  if (auto rate = findNumber(node.input(0))) {
    of.numbers.emplace_back("learning_rate", *rate);
  }
  auto first = findNumber(node.input(1));
  if (!first || *first < 0) {
    return unsupported(step, "a count of updates, '" + node.input(1) +
                                 "', that is no initializer");
  }
  of.firstCount = static_cast<int64_t>(*first);
  bool isFirst = form.parameters.empty();
  if (!isFirst &&
      (of.optimizer != form.optimizer || of.numbers != form.numbers ||
       of.firstCount != form.firstCount || node.input(1) != count)) {
    return unsupported(step, "an optimizer that differs from another one");
  }
  form.optimizer = of.optimizer;
  form.numbers = of.numbers;
  form.firstCount = of.firstCount;
  count = node.input(1);
  int number = given / static_cast<int>(slots);
  auto slot = [&](int which, int i) {
    return node.input(2 + which * number + i);
  };
  for (int i = 0; i < number; ++i) {
    std::string parameter = slot(0, i);
    auto gradient = gradients.find(parameter);
    if (gradient == gradients.end() || gradient->second != slot(1, i)) {
      TrainingNode *maker = makers.lookup(slot(1, i));
      return unsupported(maker ? *maker : step,
                         "something between Gradient and optimizer");
    }
    if (is_contained(form.parameters, parameter)) {
      return unsupported(step, "a second update of '" + parameter + "'");
    }
    form.parameters.push_back(parameter);
    SmallVector<std::string> states;
    for (int which = 2; which < static_cast<int>(slots); ++which) {
      states.push_back(slot(which, i));
    }
    if (failed(checkStates(step, states))) {
      return failure();
    }
    // Outputs are the parameters, then each of the states.
    for (int which = 0; which + 1 < static_cast<int>(slots); ++which) {
      int output = which * number + i;
      if (output < node.output_size() && !node.output(output).empty()) {
        updates[which == 0 ? parameter : states[which - 1]] =
            node.output(output);
      }
    }
  }
  step.isLeft = true;
  return success();
}

LogicalResult TrainingFormReader::readOptimizers() {
  for (TrainingNode &step : steps) {
    if (countSlots(*step.node) != 0 && failed(readOptimizer(step))) {
      return failure();
    }
  }
  return form.parameters.empty()
             ? diags.unsupported("", "the model's training algorithm has no "
                                     "optimizer of ONNX")
             : success();
}

} // namespace ampc::importer
