//===- trainer.cpp - The entries and states of a trainer, by name ---------===//
#include "runtime/training/trainer.h"

#include "runtime/core/dtype.h"
#include "runtime/core/plan.h"

namespace ampc::runtime {
namespace {

int64_t findTensor(const ampc_tensor_desc *descs, uint32_t count,
                   const char *name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(descs[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

/// The numbers of an UpdateReport as states.
struct NumberState {
  const char *name;
  uint32_t dtype;
  bool required;
};
enum NumberIndex {
  metricsLoss,
  metricsWeight,
  metricsCorrect,
  metricsCount,
  metricsNorm,
  metricsScale,
  metricsFoundInf,
  trainScale,
  trainTracker,
  trainTaken,
  trainSkipped
};
constexpr NumberState numberStates[] = {
    {"metrics.loss", AMPC_DTYPE_F32, true},
    {"metrics.weight", AMPC_DTYPE_F32, true},
    {"metrics.correct", AMPC_DTYPE_F32, false},
    {"metrics.count", AMPC_DTYPE_F32, false},
    {"metrics.norm", AMPC_DTYPE_F32, true},
    {"metrics.scale", AMPC_DTYPE_F32, true},
    {"metrics.found_inf", AMPC_DTYPE_I32, true},
    {"train.scale", AMPC_DTYPE_F32, true},
    {"train.tracker", AMPC_DTYPE_I32, true},
    {"train.taken", AMPC_DTYPE_I32, true},
    {"train.skipped", AMPC_DTYPE_I32, true},
};

bool sameType(const ampc_tensor_desc &a, const ampc_tensor_desc &b) {
  return a.dtype == b.dtype && a.rank == b.rank &&
         (a.rank == 0 || memcmp(a.dims, b.dims, a.rank * sizeof *a.dims) == 0);
}

bool isNumber(const ampc_tensor_desc &desc, uint32_t dtype) {
  return desc.rank == 0 && desc.dtype == dtype;
}

} // namespace

int64_t Entry::input(const char *name) const {
  return findTensor(inputs, numInputs, name);
}

int64_t Entry::output(const char *name) const {
  return findTensor(outputs, numOutputs, name);
}

Status Trainer::openEntry(const char *name, Entry *out) {
  for (uint32_t i = 0; i < source->num_entries; ++i) {
    const ampc_entry &entry = source->entries[i];
    if (strcmp(entry.name, name) == 0) {
      *out = {i, source->inputs + entry.first_input, entry.num_inputs,
              source->outputs + entry.first_output, entry.num_outputs};
      return Status();
    }
  }
  return Status::error(AMPC_INVALID, "expected a trainer's entry '%s'", name);
}

uint32_t Trainer::numDataInputs() const {
  return stepEntry.numInputs - (samples >= 0);
}

bool Trainer::isBatched(uint32_t index) const {
  const ampc_tensor_desc &desc = stepEntry.inputs[index];
  return desc.rank > 0 && desc.dims[0] == batchSize;
}

/// The batch is the first dimension of the labels or, without any known, of the
/// last input that has one.
Status Trainer::findBatch() {
  const Entry &step = stepEntry;
  samples = step.input("samples");
  if (samples >= 0 && !isNumber(step.inputs[samples], AMPC_DTYPE_I64)) {
    return Status::error(AMPC_INVALID,
                         "expected an input 'samples' of i64, "
                         "got %s",
                         describe(step.inputs[samples]).c_str());
  }
  labels = known.label.empty() ? -1 : step.input(known.label.c_str());
  int64_t from = labels;
  for (int64_t i = step.numInputs; from < 0 && i-- > 0;) {
    from = i != samples && step.inputs[i].rank > 0 ? i : -1;
  }
  if (from < 0 || step.inputs[from].rank == 0 ||
      step.inputs[from].dims[0] == 0 || step.inputs[from].bytes == 0) {
    return Status::error(AMPC_INVALID,
                         "expected an input of 'step' with samples");
  }
  batchSize = step.inputs[from].dims[0];
  return Status();
}

Status Trainer::findNumbers() {
  for (const NumberState &number : numberStates) {
    int64_t index = findState(number.name);
    bool good =
        index >= 0
            ? isNumber(source->states[index].tensor, number.dtype) &&
                  source->states[index].offset + 4 <= source->control_bytes
            : !number.required;
    if (!good) {
      return Status::error(AMPC_INVALID, "expected a state '%s' of %s",
                           number.name, ampc_dtype_name(number.dtype));
    }
    numbers.push(index);
  }
  return Status();
}

Status Trainer::open(const ampc_program &program) {
  source = &program;
  AMPC_TRY(checkProgram(program));
  AMPC_TRY(readTrainingFacts(program.metadata, &known));
  AMPC_TRY(openEntry("eval", &evalEntry));
  AMPC_TRY(openEntry("step", &stepEntry));
  AMPC_TRY(openEntry("apply", &applyEntry));
  hasGradStats = openEntry("grad_stats", &gradStatsEntry).ok();
  AMPC_TRY(findBatch());
  bool same = evalEntry.numInputs == stepEntry.numInputs;
  for (uint32_t i = 0; same && i < stepEntry.numInputs; ++i) {
    same = strcmp(evalEntry.inputs[i].name, stepEntry.inputs[i].name) == 0 &&
           sameType(evalEntry.inputs[i], stepEntry.inputs[i]);
  }
  if (!same || stepEntry.numOutputs || applyEntry.numOutputs) {
    return Status::error(AMPC_INVALID,
                         "expected entries 'eval' and 'step' of equal inputs, "
                         "'step' and 'apply' without outputs");
  }
  for (const char *name : {"loss", "loss_weight"}) {
    int64_t index = evalEntry.output(name);
    if (index < 0 || !isNumber(evalEntry.outputs[index], AMPC_DTYPE_F32)) {
      return Status::error(AMPC_INVALID,
                           "expected an output '%s' of 'eval', an f32", name);
    }
  }
  int64_t correct = evalEntry.output("correct");
  accuracy =
      correct >= 0 && isNumber(evalEntry.outputs[correct], AMPC_DTYPE_F32);
  return findNumbers();
}

bool Trainer::hasStatistics() const {
  for (uint32_t i = 0; i < source->num_states; ++i) {
    if (source->states[i].role == AMPC_STATE_STATISTIC) {
      return true;
    }
  }
  return false;
}

int64_t Trainer::findState(const char *name) const {
  for (uint32_t i = 0; i < source->num_states; ++i) {
    if (strcmp(source->states[i].tensor.name, name) == 0) {
      return i;
    }
  }
  return -1;
}

UpdateReport Trainer::readReport(const void *control) const {
  auto at = [&](NumberIndex which) {
    return static_cast<const uint8_t *>(control) +
           source->states[numbers[which]].offset;
  };
  auto real = [&](NumberIndex which) {
    return static_cast<double>(loadLE<float>(at(which)));
  };
  auto whole = [&](NumberIndex which) { return loadLE<int32_t>(at(which)); };
  UpdateReport report;
  report.loss = real(metricsLoss);
  report.weight = real(metricsWeight);
  report.correct = numbers[metricsCorrect] >= 0 ? real(metricsCorrect) : 0;
  report.count =
      numbers[metricsCount] >= 0 ? real(metricsCount) : report.weight;
  report.norm = real(metricsNorm);
  report.scale = real(metricsScale);
  report.foundInf = whole(metricsFoundInf) != 0;
  report.nextScale = real(trainScale);
  report.tracker = whole(trainTracker);
  report.taken = whole(trainTaken);
  report.skipped = whole(trainSkipped);
  return report;
}

} // namespace ampc::runtime
