//===- TrainingForm.h - A model that says how it is trained -----*- C++ -*-===//
#ifndef AMPC_COMPILER_IMPORT_TRAININGFORM_H
#define AMPC_COMPILER_IMPORT_TRAININGFORM_H

#include "compiler/Import/ModelFile.h"
#include "llvm/Support/LogicalResult.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ampc::importer {

enum class OnnxOptimizer { Adam, Adagrad, Momentum, Nesterov };

/// What a model's own training step is: a loss, its gradient with respect to
/// initializers, and an optimizer that moves them.
struct TrainingForm {
  std::string loss;                    ///< an output of the model's graph
  std::vector<std::string> parameters; ///< initializers that are trained
  OnnxOptimizer optimizer = OnnxOptimizer::Adam;
  /// The optimizer's numbers by the names of a trainer's update: its attributes
  /// and, where the model has it, the learning rate.
  std::vector<std::pair<std::string, double>> numbers;
  /// The count of updates that the first one finds.
  int64_t firstCount = 0;
  /// The model has values to start from that are computed.
  bool hasInitialization = false;
};

/// Whether the model trains itself: by its TrainingInfoProto, or by Gradient
/// nodes in its graph.
bool hasTrainingForm(const ModelFile &model);

/// Takes the training step of such a model apart. What computes the loss joins
/// the model's graph, with the loss as an output; gradient, optimizer and
/// counter leave it. Reports as unsupported, under the node's name, whatever is
/// not of the form: loss, one Gradient at initializers, optimizers of one kind
/// that read its results, and updates of what they read by what they return.
std::optional<TrainingForm> takeTrainingForm(ModelFile &model,
                                             ImportDiagnostics &diags);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_TRAININGFORM_H
