//===- apply_inputs.h - The numbers that an update takes ------------------===//
#ifndef AMPC_RUNTIME_TRAINING_APPLY_INPUTS_H
#define AMPC_RUNTIME_TRAINING_APPLY_INPUTS_H

#include "runtime/training/options.h"
#include "runtime/training/trainer.h"

namespace ampc::runtime {

/// A number for an input of `apply`: what is given, else what the program says
/// of its optimizer, else the option's default.
double chooseNumber(const Trainer &trainer, const Setting &setting,
                    const char *input);

/// The inputs of `apply` from options, by name. Only the learning rate changes
/// in the course of a run.
class ApplyInputs {
public:
  /// `scaler` is not Auto. AMPC_USAGE if an option is given that the program's
  /// optimizer does not have; AMPC_INVALID if it has an input unknown here.
  Status open(const Trainer &trainer, const TrainOptions &options,
              ScalerKind scaler);
  void setLearningRate(double value);
  /// One for each input of `apply`.
  const void *const *pointers() const { return addresses.data(); }
  size_t size() const { return addresses.size(); }
  /// The numbers by name, as members of a JSON object, each behind a comma.
  void describe(const Trainer &trainer, Str *out) const;

private:
  Status fill(const Trainer &trainer, const ampc_tensor_desc &desc,
              const TrainOptions &options, ScalerKind scaler, uint32_t *slot);

  Vec<uint32_t> slots; // bits of an f32 or i32 each
  Vec<const void *> addresses;
  int64_t learningRate = -1;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_APPLY_INPUTS_H
