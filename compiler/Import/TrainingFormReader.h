//===- TrainingFormReader.h - Takes a training step apart -------*- C++ -*-===//
#ifndef AMPC_COMPILER_IMPORT_TRAININGFORMREADER_H
#define AMPC_COMPILER_IMPORT_TRAININGFORMREADER_H

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "compiler/Import/TrainingForm.h"
#include "llvm/ADT/StringMap.h"

namespace ampc::importer {

/// Whether the node is the operator `name` of ONNX's training domain.
bool isTrainingOp(const onnx::NodeProto &node, llvm::StringRef name);

/// How many tensors of a parameter an optimizer reads: itself, its gradient and
/// states; 0 for other nodes.
unsigned countSlots(const onnx::NodeProto &node);

/// A node of the combined graph.
struct TrainingNode {
  const onnx::NodeProto *node;
  std::string label;
  bool isOfAlgorithm;
  bool isLeft = false; ///< it leaves the graph
};

/// The work of takeTrainingForm.
class TrainingFormReader {
public:
  TrainingFormReader(ModelFile &model, ImportDiagnostics &diags)
      : model(model), proto(model.getMutableProto()), diags(diags) {}

  std::optional<TrainingForm> run() {
    if (failed(collect()) || failed(readGradient()) ||
        failed(readOptimizers()) || failed(readUpdates()) ||
        failed(checkReaders())) {
      return std::nullopt;
    }
    rewrite();
    return std::move(form);
  }

private:
  llvm::LogicalResult unsupported(const TrainingNode &step,
                                  const llvm::Twine &what) {
    return diags.unsupported(step.label,
                             "unsupported in a training step: " + what);
  }
  llvm::LogicalResult collect();
  llvm::LogicalResult readGradient();
  llvm::LogicalResult readOptimizers();
  llvm::LogicalResult readOptimizer(TrainingNode &step);
  llvm::LogicalResult readAttributes(const TrainingNode &step,
                                     TrainingForm &of);
  llvm::LogicalResult readUpdates();
  llvm::LogicalResult checkReaders();
  llvm::LogicalResult checkStates(const TrainingNode &step,
                                  llvm::ArrayRef<std::string> names);
  bool isCounter(const TrainingNode &step, llvm::StringRef count) const;
  void rewrite();

  /// The one number of an initializer or Constant.
  std::optional<double> findNumber(llvm::StringRef name) const;
  const onnx::TensorProto *findTensor(llvm::StringRef name) const;

  ModelFile &model;
  onnx::ModelProto &proto;
  ImportDiagnostics &diags;
  const onnx::GraphProto *algorithm = nullptr;
  std::vector<TrainingNode> steps;
  llvm::StringMap<TrainingNode *> makers;
  llvm::StringMap<const onnx::TensorProto *> tensors;
  llvm::StringMap<std::string> gradients; ///< of each parameter: its name
  llvm::StringMap<std::string> updates;   ///< of what an optimizer reads
  std::string count;                      ///< of updates
  TrainingForm form;
};

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_TRAININGFORMREADER_H
