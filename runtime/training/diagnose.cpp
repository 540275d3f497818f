//===- diagnose.cpp - Where numbers stop being finite ---------------------===//
#include "runtime/training/diagnose.h"

namespace ampc::runtime {
namespace {

/// The states that `step` changes, to be put back.
class SavedStates {
public:
  Status save(ampc_session session, const ampc_program &program) {
    saved.resize(program.num_states);
    for (uint32_t i = 0; i < program.num_states; ++i) {
      const ampc_state_desc &state = program.states[i];
      if (state.role != AMPC_STATE_PARAMETER &&
          state.role != AMPC_STATE_MOMENT) {
        AMPC_TRY(saved[i].allocate(state.tensor.bytes));
        AMPC_TRY(Status(ampc_session_read_state(session, i, saved[i].data())));
      }
    }
    return Status();
  }
  Status restore(ampc_session session) {
    for (uint32_t i = 0; i < saved.size(); ++i) {
      if (saved[i].data()) {
        AMPC_TRY(Status(ampc_session_write_state(session, i, saved[i].data())));
      }
    }
    return Status();
  }

private:
  Vec<Bytes> saved;
};

/// Whether all elements of a state are finite.
Status readsFinite(ampc_session session, uint32_t index, bool *out) {
  const ampc_tensor_desc &tensor = ampc_session_state(session, index)->tensor;
  *out = true;
  if (!isFloat(tensor.dtype)) {
    return Status();
  }
  Bytes bytes;
  AMPC_TRY(bytes.allocate(tensor.bytes));
  AMPC_TRY(Status(ampc_session_read_state(session, index, bytes.data())));
  uint64_t elements = tensor.bytes / ampc_dtype_size(tensor.dtype);
  for (uint64_t i = 0; *out && i < elements; ++i) {
    double value = elementAsDouble(tensor.dtype, bytes.data(), i);
    *out = value - value == 0;
  }
  return Status();
}

Status findInStates(ampc_session session, const ampc_program &program,
                    Finding *out) {
  for (uint32_t i = 0; i < program.num_states && out->text.empty(); ++i) {
    uint32_t role = program.states[i].role;
    if (role != AMPC_STATE_PARAMETER && role != AMPC_STATE_STATISTIC) {
      continue;
    }
    bool finite;
    AMPC_TRY(readsFinite(session, i, &finite));
    if (!finite) {
      out->text.appendf("the %s '%s' is not finite",
                        role == AMPC_STATE_PARAMETER ? "parameter"
                                                     : "statistic",
                        program.states[i].tensor.name);
    }
  }
  return Status();
}

void describeNode(const ampc_nonfinite &found, Str *out) {
  out->appendf("the first node that writes one is '%s' (kernel %s), %s in %s",
               found.label, found.kernel ? found.kernel : "copy",
               found.is_nan ? "a NaN" : "an infinity",
               ampc_dtype_name(found.dtype));
  if (found.least != 0 || found.largest != 0) {
    out->appendf("; the finite values it reads are from %.3g to %.3g",
                 found.least, found.largest);
  }
}

class Search {
public:
  Search(ampc_session session, const Trainer &trainer, const DataSet &data,
         const SuspectUpdate &suspect)
      : session(session), trainer(trainer), data(data), suspect(suspect) {}

  Status run(Finding *out) {
    AMPC_TRY(batch.allocate(trainer));
    uint64_t epoch = suspect.shape->epochOf(suspect.step);
    AMPC_TRY(shuffle(suspect.shape->rows, suspect.seed, epoch, &order));
    AMPC_TRY(eachBatch(out, [&](uint64_t index) {
      inData(index, out);
      return Status();
    }));
    if (out->text.empty()) {
      AMPC_TRY(findInStates(session, trainer.program(), out));
    }
    AMPC_TRY(eachBatch(out, [&](uint64_t) {
      return inNodes(trainer.step(), batch.inputs(), out);
    }));
    return out->text.empty() && suspect.numbers
               ? inNodes(trainer.apply(), suspect.numbers, out)
               : Status();
  }

private:
  const uint64_t *samplesOf(uint64_t index) const {
    return reinterpret_cast<const uint64_t *>(order.data()) +
           index * suspect.shape->batch;
  }

  /// Gathers the update's batches one by one until something is found.
  template <typename F>
  Status eachBatch(const Finding *out, F &&look) {
    const RunShape &shape = *suspect.shape;
    uint64_t first = shape.firstBatch(suspect.step);
    uint64_t end = first + shape.batchesOf(suspect.step);
    for (uint64_t i = first; i < end && out->text.empty(); ++i) {
      AMPC_TRY(data.gather(samplesOf(i), 0,
                           static_cast<int64_t>(shape.samplesOf(i)), &batch));
      AMPC_TRY(look(i));
    }
    return Status();
  }

  void inData(uint64_t index, Finding *out) {
    uint32_t input;
    int64_t place;
    if (!data.findNonfinite(batch, &input, &place)) {
      return;
    }
    place = place < batch.samples ? place : batch.samples - 1;
    out->isInData = true;
    out->text.appendf("input '%s' of sample %llu of the data is not finite",
                      trainer.step().inputs[input].name,
                      static_cast<unsigned long long>(samplesOf(index)[place]));
  }

  Status inNodes(const Entry &entry, const void *const *inputs, Finding *out) {
    ampc_nonfinite found = {};
    AMPC_TRY(Status(ampc_session_find_nonfinite(session, entry.index, inputs,
                                                nullptr, &found)));
    if (found.label) {
      describeNode(found, &out->text);
    }
    return Status();
  }

  ampc_session session;
  const Trainer &trainer;
  const DataSet &data;
  const SuspectUpdate &suspect;
  Batch batch;
  Bytes order;
};

} // namespace

Status diagnose(ampc_session session, const Trainer &trainer,
                const DataSet &data, const SuspectUpdate &suspect, bool restore,
                Finding *out) {
  SavedStates saved;
  if (restore) {
    AMPC_TRY(saved.save(session, trainer.program()));
  }
  AMPC_TRY(Search(session, trainer, data, suspect).run(out));
  if (out->text.empty()) {
    out->text = Str("its batches give finite numbers when they are run again");
  }
  return restore ? saved.restore(session) : Status();
}

} // namespace ampc::runtime
