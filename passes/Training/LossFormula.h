//===- LossFormula.h - Losses as operations of amp --------------*- C++ -*-===//
#ifndef AMPC_PASSES_TRAINING_LOSSFORMULA_H
#define AMPC_PASSES_TRAINING_LOSSFORMULA_H

#include "dialects/Amp/IR/Formula.h"
#include "passes/Training/Passes.h"

namespace ampc::training {

/// What a loss gives for one batch. The mean of a data set is the sum of its
/// losses over the sum of its weights.
struct LossSums {
  mlir::Value loss;    ///< weighted sum
  mlir::Value weight;  ///< sum of the weights
  mlir::Value correct; ///< what was predicted right; null where undefined
  mlir::Value count;   ///< what `correct` is a share of
};

/// How the targets of a cross-entropy count.
struct CrossEntropy {
  int64_t axis = 1; ///< of the classes
  /// The share of a target that all classes have in common.
  double smoothing = 0;
  std::optional<int64_t> ignoreIndex;
  mlir::Value classWeights; ///< [classes], or null
};

/// Builds losses in f32. `samples` of rank 0 says how many samples count, the
/// first ones of a batch of `batch`; what does not count has the gradient 0.
class LossFormula : amp::Formula {
public:
  LossFormula(mlir::OpBuilder &b, mlir::Location loc, mlir::Value samples,
              int64_t batch)
      : Formula(b, loc), samples(samples), batch(batch) {}

  /// -w[y] log softmax(x)[y] and its weight w[y], for integer labels y:
  /// torch.nn.CrossEntropyLoss, whose mean divides by the sum of w[y]. Smoothed
  /// it is (1 - s) of that and s / classes of the sum over all classes
  /// (cross_entropy_loss_label_smoothing in aten/src/ATen/native/LossNLL.cpp).
  /// A label that is no class, and not ignored, counts not at all but makes the
  /// loss NaN.
  LossSums crossEntropy(mlir::Value logits, mlir::Value labels,
                        const CrossEntropy &options);
  /// The same of log probabilities.
  LossSums negativeLogLikelihood(mlir::Value logs, mlir::Value labels,
                                 const CrossEntropy &options);

  /// For labels that are probabilities: -sum of w y log softmax(x) over the
  /// classes, whose mean divides by the number of rows.
  LossSums crossEntropyOfProbabilities(mlir::Value logits, mlir::Value labels,
                                       const CrossEntropy &options);

  /// A loss of each element, averaged over a sample.
  LossSums elementwise(Loss kind, mlir::Value x, mlir::Value labels);

  /// What the model computed itself: each element counts like the others, or a
  /// number counts once, if the whole batch does.
  LossSums given(mlir::Value loss);

  /// Sums of an ONNX loss as its `reduction` has them: the mean by weights, the
  /// sum of a batch as one number, or, for `none`, the mean over all targets.
  LossSums reduced(LossSums sums, llvm::StringRef reduction,
                   mlir::Value targets);

private:
  /// Whether each row along the first dimension of a tensor of `shape` counts:
  /// [rows, 1, ..], or of rank 0.
  mlir::Value getCounted(llvm::ArrayRef<int64_t> shape);
  mlir::Value sumAll(mlir::Value value);
  mlir::Value asNumber(mlir::Value flag);
  /// The loss of each element, averaged over all dimensions but the first.
  LossSums average(mlir::Value loss);
  /// `weights`, one for each class, along `axis` of a tensor like `like`.
  mlir::Value spreadClasses(mlir::Value weights, mlir::Value like,
                            int64_t axis);

  mlir::Value samples;
  int64_t batch;
};

} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_LOSSFORMULA_H
