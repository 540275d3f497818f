//===- update_work.cpp - Updates on one batch, to be measured -------------===//
#include "runtime/program/update_work.h"

#include "runtime/core/dtype.h"
#include "runtime/program/command_line.h"
#include "runtime/training/first_states.h"

namespace ampc::runtime {

Status UpdateWork::drawBatch(const Vec<bool> &given) {
  const Entry &step = source.step();
  const TrainingFacts &facts = source.facts();
  for (uint32_t i = 0; i < step.numInputs; ++i) {
    if (given[i]) {
      continue;
    }
    const ampc_tensor_desc &desc = step.inputs[i];
    if (i == source.samplesInput()) {
      AMPC_TRY(fillZero(desc, &tensors[i]));
      storeLE(tensors[i].data.data(), source.batch());
    } else if (i == source.labelInput() && facts.hasClasses &&
               facts.classes > 0 && !isFloat(desc.dtype)) {
      AMPC_TRY(fillBelow(desc, static_cast<uint64_t>(facts.classes), i + 1,
                         &tensors[i]));
    } else {
      AMPC_TRY(fillInput(desc, i, &tensors[i]));
    }
  }
  return Status();
}

Status UpdateWork::open(const ampc_program &program, const Options &options) {
  AMPC_TRY(source.open(program));
  AMPC_TRY(numbers.open(source, options.train,
                        resolveScaler(source, options.train)));
  const Entry &step = source.step();
  Vec<bool> given;
  AMPC_TRY(takeInputs(step.inputs, step.numInputs, options, &given, &tensors));
  AMPC_TRY(drawBatch(given));
  for (const Tensor &tensor : tensors) {
    inputs.push(tensor.data.data());
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    inputs.push(numbers.pointers()[i]);
  }
  entries[0] = step.index;
  entries[1] = source.apply().index;
  return Status();
}

Status UpdateWork::begin(ampc_session session,
                         const TrainOptions &options) const {
  return writeFirstStates(session, source, options,
                          resolveScaler(source, options), options.seed);
}

Status UpdateWork::update(ampc_session session, UpdateReport *out) const {
  const void *control;
  AMPC_TRY(submit(session, entries, 2, inputs.data(), &control));
  *out = source.readReport(control);
  return Status();
}

} // namespace ampc::runtime
