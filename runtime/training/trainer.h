//===- trainer.h - The entries and states of a trainer, by name -----------===//
//
// What the compiler and the loop agree on beyond the ABI:
//
//   eval   inputs: the model's, the labels, `samples` (i64: how many of the
//          batch's first samples count); outputs, f32: `loss`, a sum over what
//          counts, and `loss_weight`, its weight; where there is an accuracy,
//          `correct`, how many are right, and `count`, of how many, which is
//          `loss_weight` if it is not there.
//   step   the same inputs; adds to the gradients and sums of the window.
//   apply  inputs: numbers by name; makes an update, unless gradients overflow,
//          writes `metrics.*`, and starts the sums anew.
//   grad_stats  outputs `mean_abs`, `zero_share` and `norm`, f32, one number a
//          PARAMETER state. Between step and apply.
//
// Numbers of rank 0 in the state: `train.scale`, `train.tracker`,
// `train.taken`, `train.skipped` and, of the last update, `metrics.loss`
// (mean of the window), `metrics.weight`, `metrics.correct` (a share),
// `metrics.count` (of how many; it may be missing as above), `metrics.norm`
// (before clipping), `metrics.scale` and `metrics.found_inf`.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_TRAINER_H
#define AMPC_RUNTIME_TRAINING_TRAINER_H

#include "runtime/training/training_facts.h"

namespace ampc::runtime {

/// An entry of a program; `inputs` and `outputs` are its own.
struct Entry {
  uint32_t index = 0;
  const ampc_tensor_desc *inputs = nullptr;
  uint32_t numInputs = 0;
  const ampc_tensor_desc *outputs = nullptr;
  uint32_t numOutputs = 0;

  /// The input or output of that name, or -1.
  int64_t input(const char *name) const;
  int64_t output(const char *name) const;
};

/// What the loop reads of the state after an update.
struct UpdateReport {
  double loss = 0; // mean of the window
  double weight = 0;
  double correct = 0; // share
  double count = 0;   // of how many
  double norm = 0;
  double scale = 1; // that the update used
  bool foundInf = false;
  double nextScale = 1;
  int64_t tracker = 0;
  int64_t taken = 0;
  int64_t skipped = 0;
};

/// A program with the entries of a trainer. Refers to the program.
class Trainer {
public:
  /// AMPC_INVALID names what a trainer's program must have and this one lacks.
  Status open(const ampc_program &program);

  const ampc_program &program() const { return *source; }
  const TrainingFacts &facts() const { return known; }
  const Entry &eval() const { return evalEntry; }
  const Entry &step() const { return stepEntry; }
  const Entry &apply() const { return applyEntry; }
  /// Null if there is none.
  const Entry *gradStats() const {
    return hasGradStats ? &gradStatsEntry : nullptr;
  }

  /// Samples of a batch.
  int64_t batch() const { return batchSize; }
  /// Whether input `index` of `step` has one row a sample.
  bool isBatched(uint32_t index) const;
  /// Inputs of `step` that data is for: all but `samples`.
  uint32_t numDataInputs() const;
  /// The input `samples` of `step`, or -1.
  int64_t samplesInput() const { return samples; }
  /// The input of the labels among those of `step`, or -1.
  int64_t labelInput() const { return labels; }

  bool hasAccuracy() const { return accuracy; }
  bool hasStatistics() const;
  /// The state of that name, or -1.
  int64_t findState(const char *name) const;
  /// Reads the numbers out of the bytes that ampc_session_wait_control gives.
  UpdateReport readReport(const void *control) const;

private:
  Status openEntry(const char *name, Entry *out);
  Status findBatch();
  Status findNumbers();

  const ampc_program *source = nullptr;
  TrainingFacts known;
  Entry evalEntry, stepEntry, applyEntry, gradStatsEntry;
  bool hasGradStats = false;
  int64_t batchSize = 0;
  int64_t samples = -1;
  int64_t labels = -1;
  bool accuracy = false;
  Vec<int64_t> numbers; // states of what readReport reads; -1: not there
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_TRAINER_H
