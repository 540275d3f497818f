//===- evaluate.h - The loss over a data set ------------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_EVALUATE_H
#define AMPC_RUNTIME_TRAINING_EVALUATE_H

#include "runtime/training/data_set.h"
#include "runtime/training/journal.h"

namespace ampc::runtime {

/// Whether an incomplete last batch can be evaluated: it is filled up, and the
/// entries leave out what is not a sample.
bool canPad(const Trainer &trainer);

/// Runs `eval` over all batches in the data's order, with the states as they
/// are. Ends early, with `*outInterrupted` set, when an EndRequest comes in.
Status evaluate(ampc_session session, const Trainer &trainer,
                const DataSet &data, Evaluation *out, bool *outInterrupted);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_EVALUATE_H
