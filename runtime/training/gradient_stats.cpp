//===- gradient_stats.cpp - How gradients stand to the range of f16 -------===//
#include "runtime/training/gradient_stats.h"

namespace ampc::runtime {
namespace {

struct StatsOutput {
  const char *name;
  Vec<float> GradientStats::*member;
};
constexpr StatsOutput statsOutputs[] = {
    {"mean_abs", &GradientStats::meanAbs},
    {"zero_share", &GradientStats::zeroShare},
    {"norm", &GradientStats::norm},
};

int64_t countParameters(const ampc_program &program) {
  int64_t count = 0;
  for (uint32_t i = 0; i < program.num_states; ++i) {
    count += program.states[i].role == AMPC_STATE_PARAMETER;
  }
  return count;
}

} // namespace

double GradientStats::totalZeroShare() const {
  double zeros = 0, all = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    zeros += static_cast<double>(zeroShare[i]) * elements[i];
    all += elements[i];
  }
  return all > 0 ? zeros / all : 0;
}

Status checkGradientStats(const Trainer &trainer) {
  const Entry &entry = *trainer.gradStats();
  int64_t parameters = countParameters(trainer.program());
  bool good = entry.numInputs == 0;
  for (const StatsOutput &output : statsOutputs) {
    int64_t index = entry.output(output.name);
    good = good && index >= 0 && entry.outputs[index].rank == 1 &&
           entry.outputs[index].dtype == AMPC_DTYPE_F32 &&
           entry.outputs[index].dims[0] == parameters;
  }
  return good ? Status()
              : Status::error(AMPC_INVALID,
                              "expected an entry 'grad_stats' without inputs "
                              "and with outputs mean_abs, zero_share and norm "
                              "of f32 [%lld]",
                              static_cast<long long>(parameters));
}

Status readGradientStats(ampc_session session, const Trainer &trainer,
                         GradientStats *out) {
  const ampc_program &program = trainer.program();
  const Entry &entry = *trainer.gradStats();
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_tensor_desc &tensor = program.states[i].tensor;
    if (program.states[i].role == AMPC_STATE_PARAMETER) {
      out->names.push(tensor.name);
      out->elements.push(static_cast<double>(tensor.bytes) /
                         static_cast<double>(ampc_dtype_size(tensor.dtype)));
    }
  }
  Vec<Bytes> others; // outputs of a later compiler
  others.resize(entry.numOutputs);
  Vec<void *> outputs;
  for (uint32_t i = 0; i < entry.numOutputs; ++i) {
    AMPC_TRY(others[i].allocate(entry.outputs[i].bytes));
    outputs.push(others[i].data());
  }
  AMPC_TRY(Status(
      ampc_session_run_entry(session, entry.index, nullptr, outputs.data())));
  for (const StatsOutput &output : statsOutputs) {
    Vec<float> &values = out->*output.member;
    values.resize(out->names.size());
    if (!values.empty()) {
      memcpy(values.data(), outputs[entry.output(output.name)],
             values.size() * sizeof(float));
    }
  }
  return Status();
}

} // namespace ampc::runtime
