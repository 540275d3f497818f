//===- update_work.h - Updates on one batch, to be measured ---------------===//
#ifndef AMPC_RUNTIME_PROGRAM_UPDATE_WORK_H
#define AMPC_RUNTIME_PROGRAM_UPDATE_WORK_H

#include "runtime/io/tensor.h"
#include "runtime/program/options.h"
#include "runtime/training/apply_inputs.h"

namespace ampc::runtime {

/// The micro-step and the update of a trainer, on the same batch each time. No
/// file changes. Each call returns when the work is done; what measures links
/// nothing of training, which only `open` needs.
class UpdateWork {
public:
  /// Takes the batch from `--input`. What is not given is drawn from fixed
  /// seeds: labels among the classes that the program knows, floats, and zeros
  /// for other inputs; all samples count.
  Status open(const ampc_program &program, const Options &options);
  /// Gives a session the states that a new run begins with.
  Status begin(ampc_session session, const TrainOptions &options) const;

  /// The learning rate that the program says itself, or null.
  const double *findOwnRate() const {
    return source.facts().findDefault("learning_rate");
  }
  void setLearningRate(double value) { numbers.setLearningRate(value); }

  Status microStep(ampc_session session) const {
    return submit(session, &entries[0], 1, inputs.data());
  }
  Status apply(ampc_session session) const {
    return submit(session, &entries[1], 1, inputs.data() + tensors.size());
  }
  /// Both, as training does them.
  Status update(ampc_session session) const {
    return submit(session, entries, 2, inputs.data());
  }
  /// An update, and what it found.
  Status update(ampc_session session, UpdateReport *out) const;

  /// Samples of the batch.
  int64_t batch() const { return source.batch(); }

private:
  Status drawBatch(const Vec<bool> &given);
  static Status submit(ampc_session session, const uint32_t *which,
                       uint32_t count, const void *const *from,
                       const void **outControl = nullptr) {
    AMPC_TRY(Status(ampc_session_submit(session, which, count, from)));
    uint64_t ticket;
    const void *control;
    AMPC_TRY(Status(ampc_session_fetch_control(session, &ticket)));
    return Status(ampc_session_wait_control(
        session, ticket, outControl ? outControl : &control));
  }

  Trainer source;
  uint32_t entries[2] = {}; // step, apply
  Vec<Tensor> tensors;      // the inputs of step
  ApplyInputs numbers;
  Vec<const void *> inputs; // of both entries, one behind the other
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_PROGRAM_UPDATE_WORK_H
