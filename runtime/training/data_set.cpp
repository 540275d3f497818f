//===- data_set.cpp - Samples for a trainer, in batches -------------------===//
#include "runtime/training/data_set.h"

namespace ampc::runtime {
namespace {

uint64_t product(const int64_t *dims, size_t rank, size_t from) {
  uint64_t elements = 1;
  for (size_t i = from; i < rank; ++i) {
    elements *= static_cast<uint64_t>(dims[i]);
  }
  return elements;
}

const char *skipAt(const char *value) {
  return *value == '@' ? value + 1 : value;
}

} // namespace

Status Batch::allocate(const Trainer &trainer) {
  const Entry &step = trainer.step();
  buffers.resize(step.numInputs);
  pointers.resize(step.numInputs);
  hasFixed = false;
  for (uint32_t i = 0; i < step.numInputs; ++i) {
    if (i == trainer.samplesInput()) {
      pointers[i] = &samples;
      continue;
    }
    AMPC_TRY(buffers[i].allocate(step.inputs[i].bytes));
    pointers[i] = buffers[i].data();
  }
  return Status();
}

/// Opens the array for an input and checks its type and shape.
Status DataSet::place(const char *path, uint32_t index, uint64_t mostInMemory) {
  const ampc_tensor_desc &desc = trainer->step().inputs[index];
  DataArray &array = arrays[index];
  AMPC_TRY(array.open(path, desc.name, mostInMemory));
  Str prefix;
  prefix.appendf("%s: input '%s'", path, desc.name);
  bool batched = trainer->isBatched(index);
  bool fits = array.dims().size() == desc.rank;
  for (uint32_t i = batched; fits && i < desc.rank; ++i) {
    fits = array.dims()[i] == desc.dims[i];
  }
  if (!fits) {
    return Status::error(AMPC_INVALID, "%s: expected data like %s%s, got %s",
                         prefix.c_str(), describe(desc).c_str(),
                         batched ? " with any first dimension" : "",
                         array.description().c_str());
  }
  AMPC_TRY(findConversion(array.dtype(), desc.dtype, &conversions[index])
               .withPrefix(prefix.c_str()));
  rowElements[index] = product(desc.dims, desc.rank, batched);
  return Status();
}

Status DataSet::openArrays(const char *text, uint64_t mostInMemory) {
  const Entry &step = trainer->step();
  Vec<bool> given;
  given.resize(step.numInputs);
  if (!strstr(text, "=@")) {
    for (uint32_t i = 0; i < step.numInputs; ++i) {
      if (i != trainer->samplesInput()) {
        AMPC_TRY(place(skipAt(text), i, mostInMemory));
      }
    }
    return Status();
  }
  for (const char *at = text; *at;) {
    Str item = takeDataItem(&at);
    uint32_t index = step.numInputs;
    const char *path = nullptr;
    size_t longest = 0;
    for (uint32_t i = 0; i < step.numInputs; ++i) {
      // Names may hold '=' themselves, so they are looked for, not split off.
      size_t length = strlen(step.inputs[i].name);
      if (i != trainer->samplesInput() && length >= longest &&
          strncmp(item.c_str(), step.inputs[i].name, length) == 0 &&
          strncmp(item.c_str() + length, "=@", 2) == 0) {
        index = i;
        longest = length;
        path = item.c_str() + length + 2;
      }
    }
    if (index == step.numInputs || given[index]) {
      return Status::error(AMPC_USAGE, "%s, got '%s'",
                           index == step.numInputs
                               ? "expected NAME=@FILE of an input"
                               : "expected each input once",
                           item.c_str());
    }
    given[index] = true;
    AMPC_TRY(place(path, index, mostInMemory));
  }
  Str missing;
  for (uint32_t i = 0; i < step.numInputs; ++i) {
    if (i != trainer->samplesInput() && !given[i]) {
      missing.appendf("%s'%s' (%s)", missing.empty() ? "" : ", ",
                      step.inputs[i].name, describe(step.inputs[i]).c_str());
    }
  }
  return missing.empty()
             ? Status()
             : Status::error(AMPC_INVALID, "missing input %s", missing.c_str());
}

Status DataSet::noteUnused(const char *path, Str *outNotes) const {
  Vec<Str> names;
  AMPC_TRY(listArrays(path, &names));
  for (const Str &name : names) {
    int64_t input = trainer->step().input(name.c_str());
    if (input < 0 || input == trainer->samplesInput()) {
      outNotes->appendf("%s: '%s' is no input and is not used\n", path,
                        name.c_str());
    }
  }
  return Status();
}

Status DataSet::checkRows(Str *outNotes) {
  const Entry &step = trainer->step();
  const char *first = nullptr;
  for (uint32_t i = 0; i < step.numInputs; ++i) {
    const char *name = step.inputs[i].name;
    if (i == trainer->samplesInput()) {
      continue;
    }
    if (conversions[i].rounds) {
      outNotes->appendf("input '%s': rounded from %s to %s\n", name,
                        ampc_dtype_name(conversions[i].from),
                        ampc_dtype_name(conversions[i].to));
    }
    if (!trainer->isBatched(i)) {
      continue;
    }
    uint64_t rows = static_cast<uint64_t>(arrays[i].dims()[0]);
    if (first && rows != rowCount) {
      return Status::error(AMPC_INVALID,
                           "inputs '%s' and '%s' disagree: %llu and %llu "
                           "samples",
                           first, name,
                           static_cast<unsigned long long>(rowCount),
                           static_cast<unsigned long long>(rows));
    }
    // Rows of no bytes would let a tiny file claim any number of samples.
    if (rowElements[i] == 0) {
      return Status::error(AMPC_INVALID,
                           "input '%s' has samples of no elements", name);
    }
    first = name;
    rowCount = rows;
  }
  return rowCount ? Status()
                  : Status::error(AMPC_INVALID, "the data set is empty");
}

/// A label outside of the classes must not get as far as a kernel, where it is
/// an index.
Status DataSet::checkLabels() const {
  int64_t index = trainer->labelInput();
  const TrainingFacts &facts = trainer->facts();
  if (index < 0 || !facts.hasClasses || isFloat(arrays[index].dtype())) {
    return Status();
  }
  const DataArray &array = arrays[index];
  ElementConversion toI64;
  AMPC_TRY(findConversion(array.dtype(), AMPC_DTYPE_I64, &toI64));
  constexpr uint64_t most = 4096;
  int64_t piece[most];
  uint64_t row = rowElements[index], total = row * rowCount;
  for (uint64_t at = 0; at < total; at += most) {
    uint64_t taken = total - at < most ? total - at : most;
    AMPC_TRY(array.read(at, taken, toI64, piece));
    for (uint64_t i = 0; i < taken; ++i) {
      bool ignored = facts.hasIgnoreIndex && piece[i] == facts.ignoreIndex;
      if (!ignored && (piece[i] < 0 || piece[i] >= facts.classes)) {
        return Status::error(AMPC_INVALID,
                             "input '%s', sample %llu: expected a label from 0 "
                             "to %lld, got %lld",
                             trainer->step().inputs[index].name,
                             static_cast<unsigned long long>((at + i) / row),
                             static_cast<long long>(facts.classes - 1),
                             static_cast<long long>(piece[i]));
      }
    }
  }
  return Status();
}

Status DataSet::open(const Trainer &chosen, const char *text,
                     uint64_t mostInMemory, Str *outNotes) {
  trainer = &chosen;
  uint32_t count = chosen.step().numInputs;
  arrays.resize(count);
  conversions.resize(count);
  rowElements.resize(count);
  AMPC_TRY(openArrays(text, mostInMemory));
  if (!strstr(text, "=@")) {
    AMPC_TRY(noteUnused(skipAt(text), outNotes));
  }
  AMPC_TRY(checkRows(outNotes));
  return checkLabels();
}

Status DataSet::gather(const uint64_t *order, uint64_t first, int64_t count,
                       Batch *out) const {
  const Entry &step = trainer->step();
  int64_t batch = trainer->batch();
  for (uint32_t i = 0; i < step.numInputs; ++i) {
    const ampc_tensor_desc &desc = step.inputs[i];
    uint8_t *to = out->buffers[i].data();
    if (i == trainer->samplesInput()) {
      continue;
    }
    if (!trainer->isBatched(i)) {
      if (!out->hasFixed) {
        AMPC_TRY(arrays[i]
                     .read(0, rowElements[i], conversions[i], to)
                     .withPrefix(desc.name));
      }
      continue;
    }
    uint64_t bytes = desc.bytes / static_cast<uint64_t>(batch);
    for (int64_t place = 0; place < batch; ++place) {
      uint8_t *target = to + static_cast<uint64_t>(place) * bytes;
      if (place >= count) {
        memcpy(target, target - bytes, bytes);
        continue;
      }
      uint64_t sample =
          order ? order[place] : first + static_cast<uint64_t>(place);
      Status status = arrays[i].read(sample * rowElements[i], rowElements[i],
                                     conversions[i], target);
      if (!status.ok()) {
        Str where;
        where.appendf("input '%s', sample %llu", desc.name,
                      static_cast<unsigned long long>(sample));
        return std::move(status).withPrefix(where.c_str());
      }
    }
  }
  out->hasFixed = true;
  out->samples = count;
  return Status();
}

bool DataSet::findNonfinite(const Batch &batch, uint32_t *outInput,
                            int64_t *outPlace) const {
  const Entry &step = trainer->step();
  for (uint32_t i = 0; i < step.numInputs; ++i) {
    const ampc_tensor_desc &desc = step.inputs[i];
    if (i == trainer->samplesInput() || !isFloat(desc.dtype)) {
      continue;
    }
    uint64_t elements = desc.bytes / ampc_dtype_size(desc.dtype);
    for (uint64_t e = 0; e < elements; ++e) {
      double value = elementAsDouble(desc.dtype, batch.buffers[i].data(), e);
      if (!(value - value == 0)) { // of a NaN or an infinity it is a NaN
        *outInput = i;
        *outPlace = trainer->isBatched(i)
                        ? static_cast<int64_t>(e / rowElements[i])
                        : 0;
        return true;
      }
    }
  }
  return false;
}

} // namespace ampc::runtime
