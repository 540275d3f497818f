//===- TrainingGraph.cpp - A model's graph without its update -------------===//
#include "compiler/Import/TrainingFormReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace ampc::importer {

void TrainingFormReader::rewrite() {
  onnx::GraphProto &graph = *proto.mutable_graph();
  StringSet<> read, ofUpdate, made;
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (const TrainingNode &step : steps) {
    for (const std::string &input : step.node->input()) {
      (step.isLeft ? ofUpdate : read).insert(input);
    }
    for (const std::string &output : step.node->output()) {
      if (step.isLeft) {
        made.insert(output);
      }
    }
    if (!step.isLeft) {
      *nodes.Add() = *step.node;
    }
  }
  // What the algorithm has stays behind what the model has.
  *graph.mutable_node() = nodes;
  auto outputs = graph.output();
  graph.clear_output();
  bool hasLoss = false;
  for (const onnx::ValueInfoProto &output : outputs) {
    if (!made.contains(output.name())) {
      *graph.add_output() = output;
      hasLoss |= output.name() == form.loss;
    }
  }
  if (!hasLoss) {
    graph.add_output()->set_name(form.loss);
  }
  // Numbers that only the update reads are no inputs.
  auto inputs = graph.input();
  graph.clear_input();
  StringSet<> known;
  auto addInputs = [&](const auto &source, bool isOfAlgorithm) {
    for (const onnx::ValueInfoProto &input : source) {
      bool stays = read.contains(input.name()) ||
                   (!isOfAlgorithm && !ofUpdate.contains(input.name()));
      if (stays && known.insert(input.name()).second) {
        *graph.add_input() = input;
      }
    }
  };
  addInputs(inputs, false);
  if (algorithm) {
    addInputs(algorithm->input(), true);
    for (const onnx::TensorProto &tensor : algorithm->initializer()) {
      if (read.contains(tensor.name())) {
        *graph.add_initializer() = tensor;
      }
    }
  }
  proto.clear_training_info();
}

} // namespace ampc::importer
