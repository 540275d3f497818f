//===- evaluate.cpp - The loss over a data set ----------------------------===//
#include "runtime/training/evaluate.h"

#include "runtime/training/prefetch.h"
#include "runtime/training/signals.h"

namespace ampc::runtime {

bool canPad(const Trainer &trainer) { return trainer.samplesInput() >= 0; }

Status evaluate(ampc_session session, const Trainer &trainer,
                const DataSet &data, Evaluation *out, bool *outInterrupted) {
  RunShape shape;
  shape.rows = data.rows();
  shape.batch = static_cast<uint64_t>(trainer.batch());
  shape.lastBatch = canPad(trainer) ? LastBatch::Pad : LastBatch::Drop;
  AMPC_TRY(planRun(1, 0, &shape));
  Prefetch prefetch;
  AMPC_TRY(prefetch.start(trainer, data, shape, nullptr, 0));

  const Entry &entry = trainer.eval();
  Vec<Bytes> results;
  Vec<void *> outputs;
  for (uint32_t i = 0; i < entry.numOutputs; ++i) {
    Bytes &bytes = results.push(Bytes());
    AMPC_TRY(bytes.allocate(entry.outputs[i].bytes));
    outputs.push(bytes.data());
  }
  auto number = [&](const char *name) {
    return static_cast<double>(loadLE<float>(outputs[entry.output(name)]));
  };
  const char *count = entry.output("count") >= 0 ? "count" : "loss_weight";
  double waited = 0;
  *outInterrupted = false;
  for (uint64_t i = 0; i < shape.steps; ++i) {
    if (EndRequest::signal()) {
      *outInterrupted = true;
      break;
    }
    const Batch *batch;
    AMPC_TRY(prefetch.next(&batch, &waited));
    AMPC_TRY(Status(ampc_session_run_entry(session, entry.index,
                                           batch->inputs(), outputs.data())));
    out->loss += number("loss");
    out->weight += number("loss_weight");
    out->correct += trainer.hasAccuracy() ? number("correct") : 0;
    out->count += number(count);
    out->samples += static_cast<uint64_t>(batch->samples);
  }
  return Status();
}

} // namespace ampc::runtime
