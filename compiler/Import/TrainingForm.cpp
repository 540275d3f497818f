//===- TrainingForm.cpp - A model that says how it is trained -------------===//
#include "compiler/Import/TrainingForm.h"

#include "compiler/Import/AttributeReader.h"
#include "compiler/Import/GraphCheck.h"
#include "compiler/Import/TrainingFormReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace ampc::importer {

static constexpr StringLiteral trainingDomain = "ai.onnx.preview.training";

bool isTrainingOp(const onnx::NodeProto &node, StringRef name) {
  return normalizeDomain(node.domain()) == trainingDomain &&
         node.op_type() == name;
}

unsigned countSlots(const onnx::NodeProto &node) {
  if (normalizeDomain(node.domain()) != trainingDomain) {
    return 0;
  }
  return StringSwitch<unsigned>(node.op_type())
      .Case("Adam", 4)
      .Cases({"Adagrad", "Momentum"}, 3)
      .Default(0);
}

bool hasTrainingForm(const ModelFile &model) {
  const onnx::ModelProto &proto = model.getProto();
  return proto.training_info_size() != 0 ||
         any_of(proto.graph().node(), [](const onnx::NodeProto &node) {
           return isTrainingOp(node, "Gradient");
         });
}

LogicalResult TrainingFormReader::collect() {
  if (proto.training_info_size() > 1) {
    return diags.unsupported("", "the model has more than one training "
                                 "algorithm");
  }
  if (proto.training_info_size() == 1) {
    const onnx::TrainingInfoProto &info = proto.training_info(0);
    algorithm = &info.algorithm();
    form.hasInitialization = info.initialization_binding_size() != 0;
  }
  auto add = [&](const onnx::GraphProto &graph, bool isOfAlgorithm) {
    for (const auto &[i, node] : llvm::enumerate(graph.node())) {
      steps.push_back(
          {&node, (isOfAlgorithm ? "training/" : "") + getNodeLabel(node, i),
           isOfAlgorithm});
    }
    for (const onnx::TensorProto &tensor : graph.initializer()) {
      tensors[tensor.name()] = &tensor;
    }
  };
  add(proto.graph(), false);
  if (algorithm) {
    add(*algorithm, true);
  }
  for (TrainingNode &step : steps) {
    for (const std::string &output : step.node->output()) {
      if (!output.empty() && !makers.try_emplace(output, &step).second) {
        return diags.invalid(step.label, "two nodes compute '" + output + "'");
      }
    }
  }
  return success();
}

LogicalResult TrainingFormReader::readGradient() {
  TrainingNode *gradient = nullptr;
  for (TrainingNode &step : steps) {
    if (!isTrainingOp(*step.node, "Gradient")) {
      continue;
    }
    if (gradient) {
      return unsupported(step, "a second Gradient");
    }
    gradient = &step;
  }
  if (!gradient) {
    return diags.unsupported("", "the model's training algorithm has no "
                                 "Gradient");
  }
  gradient->isLeft = true;
  AttributeReader attrs(*gradient->node, gradient->label, nullptr, diags);
  auto xs = attrs.findStrings("xs").value_or(SmallVector<std::string>());
  auto zs = attrs.findStrings("zs").value_or(SmallVector<std::string>());
  form.loss = attrs.getString("y", "");
  attrs.finish();
  if (attrs.hadError()) {
    return failure();
  }
  SmallVector<std::string> read(xs);
  append_range(read, zs);
  const onnx::NodeProto &node = *gradient->node;
  if (!std::equal(read.begin(), read.end(), node.input().begin(),
                  node.input().end())) {
    return unsupported(*gradient, "a Gradient at other values than those of "
                                  "the model");
  }
  if (!makers.lookup(form.loss)) {
    return diags.invalid(gradient->label,
                         "no node computes '" + form.loss + "'");
  }
  for (auto [i, name] : llvm::enumerate(xs)) {
    bool isInitializer =
        any_of(proto.graph().initializer(),
               [&](const auto &tensor) { return tensor.name() == name; });
    if (!isInitializer) {
      return unsupported(*gradient, "a gradient with respect to '" + name +
                                        "', which is no initializer of the "
                                        "model");
    }
    if (static_cast<int>(i) < node.output_size() && !node.output(i).empty()) {
      gradients[name] = node.output(i);
    }
  }
  return success();
}

/// Whether the node adds 1 to the count of updates.
bool TrainingFormReader::isCounter(const TrainingNode &step,
                                   StringRef count) const {
  const onnx::NodeProto &node = *step.node;
  if (node.op_type() != "Add" || node.input_size() != 2) {
    return false;
  }
  for (int i : {0, 1}) {
    auto one = findNumber(node.input(1 - i));
    if (node.input(i) == count && one && *one == 1) {
      return true;
    }
  }
  return false;
}

/// Each binding writes over what an optimizer read what it returned, or counts.
LogicalResult TrainingFormReader::readUpdates() {
  for (TrainingNode &step : steps) {
    step.isLeft = step.isLeft || isCounter(step, count);
  }
  if (!algorithm) {
    return success();
  }
  StringMap<std::string> bound;
  for (const onnx::StringStringEntryProto &binding :
       proto.training_info(0).update_binding()) {
    const std::string &key = binding.key(), &value = binding.value();
    TrainingNode *maker = makers.lookup(value);
    bool isCount = key == count && maker && isCounter(*maker, count);
    auto expected = updates.find(key);
    if (!isCount && (expected == updates.end() || expected->second != value)) {
      return diags.unsupported(
          key, "unsupported in a training step: an update by '" +
                   printableName(value) +
                   "', which is no result of the optimizer for it");
    }
    bound[key] = value;
  }
  for (const auto &entry : updates) {
    if (!bound.contains(entry.first())) {
      return diags.unsupported(
          entry.first(), "unsupported in a training step: the optimizer's "
                         "result for this initializer is not bound to it");
    }
  }
  return success();
}

/// What leaves the graph has no other reader, and the rest of the algorithm
/// computes the loss.
LogicalResult TrainingFormReader::checkReaders() {
  StringSet<> needed{form.loss};
  // Users before what they use, whatever the order of the nodes.
  SmallVector<std::string> open{form.loss};
  while (!open.empty()) {
    TrainingNode *maker = makers.lookup(open.pop_back_val());
    if (!maker) {
      continue;
    }
    if (maker->isLeft) {
      return unsupported(*maker, "a loss that depends on it");
    }
    for (const std::string &input : maker->node->input()) {
      if (!input.empty() && needed.insert(input).second) {
        open.push_back(input);
      }
    }
  }
  for (TrainingNode &step : steps) {
    if (step.isLeft) {
      continue;
    }
    bool isNeeded = any_of(step.node->output(), [&](const std::string &output) {
      return needed.contains(output);
    });
    if (step.isOfAlgorithm && !isNeeded && step.node->op_type() != "Constant") {
      return unsupported(step, "a node that does not compute the loss");
    }
    for (const std::string &input : step.node->input()) {
      TrainingNode *maker = makers.lookup(input);
      if (maker && maker->isLeft) {
        return unsupported(step, "a reader of '" + input + "'");
      }
    }
    step.isLeft = step.isOfAlgorithm && !isNeeded;
  }
  return success();
}

std::optional<TrainingForm> takeTrainingForm(ModelFile &model,
                                             ImportDiagnostics &diags) {
  return TrainingFormReader(model, diags).run();
}

} // namespace ampc::importer
