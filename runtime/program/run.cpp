//===- run.cpp - The command run ------------------------------------------===//
#include "runtime/core/dtype.h"
#include "runtime/program/command_line.h"

#include <stdio.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

Status runOnce(ampc_session session, const Vec<const void *> &inputs,
               const Vec<void *> &outputs) {
  return Status(ampc_session_run(session, inputs.data(), outputs.data()));
}

/// Tensors for the outputs, whose first dimension is `rows` where `rows` is not
/// negative.
Status makeOutputs(const ampc_program &program, int64_t rows,
                   Vec<Tensor> *out) {
  for (uint32_t i = 0; i < program.num_outputs; ++i) {
    const ampc_tensor_desc &desc = program.outputs[i];
    Tensor tensor;
    tensor.name = Str(desc.name);
    tensor.dtype = desc.dtype;
    for (uint32_t d = 0; d < desc.rank; ++d) {
      tensor.dims.push(d == 0 && rows >= 0 ? rows : desc.dims[d]);
    }
    uint64_t elements, bytes;
    if (!shapeSize(tensor.dims.data(), desc.rank, ampc_dtype_size(desc.dtype),
                   &elements, &bytes)) {
      return Status::error(AMPC_LIMIT, "output '%s' is too large", desc.name);
    }
    AMPC_TRY(tensor.data.allocate(bytes));
    out->push(std::move(tensor));
  }
  return Status();
}

Status runSingle(const ampc_program &program, const Options &options,
                 const Vec<Tensor> &inputs) {
  SessionHolder holder;
  AMPC_TRY(openSession(program, options, &holder));
  Vec<Tensor> outputs;
  AMPC_TRY(makeOutputs(program, -1, &outputs));
  Vec<const void *> in;
  Vec<void *> out;
  for (const Tensor &tensor : inputs) {
    in.push(tensor.data.data());
  }
  for (Tensor &tensor : outputs) {
    out.push(tensor.data.data());
  }
  ampc_session_set_profiling(holder.session, options.profile);
  AMPC_TRY(runOnce(holder.session, in, out));
  AMPC_TRY(deliverOutputs(program, options, outputs));
  if (options.profile) {
    printProfile(holder.session, 1);
  }
  return Status();
}

/// How a data set is cut into batches.
struct Batches {
  int64_t size = 0;  // rows of one compiled batch
  int64_t rows = 0;  // of the data set
  Vec<bool> batched; // inputs; the others are the same for every batch
};

/// An input is batched when its first dimension differs from the compiled one;
/// all that do must agree.
Status planBatches(const ampc_program &program, const Vec<Tensor> &data,
                   Batches *out) {
  out->batched.resize(program.num_inputs);
  const char *first = nullptr;
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    const ampc_tensor_desc &desc = program.inputs[i];
    if (desc.rank == 0 || data[i].dims[0] == desc.dims[0]) {
      continue;
    }
    if (first && (desc.dims[0] != out->size || data[i].dims[0] != out->rows)) {
      return Status::error(AMPC_INVALID,
                           "inputs '%s' and '%s' disagree: %lld rows in "
                           "batches of %lld, and %lld in batches of %lld",
                           first, desc.name, static_cast<long long>(out->rows),
                           static_cast<long long>(out->size),
                           static_cast<long long>(data[i].dims[0]),
                           static_cast<long long>(desc.dims[0]));
    }
    // Rows of no bytes would let a tiny file claim any number of batches.
    if (desc.bytes == 0) {
      return Status::error(AMPC_INVALID, "input '%s' has no elements to batch",
                           desc.name);
    }
    first = desc.name;
    out->size = desc.dims[0];
    out->rows = data[i].dims[0];
    out->batched[i] = true;
  }
  // Each output must be cut the same way, or the results cannot be joined.
  for (uint32_t i = 0; first && i < program.num_outputs; ++i) {
    const ampc_tensor_desc &desc = program.outputs[i];
    if (desc.rank == 0 || desc.dims[0] != out->size) {
      return Status::error(AMPC_UNSUPPORTED,
                           "output '%s' (%s) has no batch dimension of %lld "
                           "along which to join the results",
                           desc.name, describe(desc).c_str(),
                           static_cast<long long>(out->size));
    }
  }
  return Status();
}

class DataRun {
public:
  DataRun(const ampc_program &program, const Options &options,
          const Vec<Tensor> &data, const Batches &batches)
      : program(program), options(options), data(data), batches(batches) {}

  Status run();

private:
  Status prepare();
  Status batch(int64_t begin, int64_t valid);
  uint64_t rowBytes(const ampc_tensor_desc &desc) const {
    return desc.bytes / static_cast<uint64_t>(batches.size);
  }

  const ampc_program &program;
  const Options &options;
  const Vec<Tensor> &data;
  const Batches &batches;
  SessionHolder holder;
  Vec<Tensor> joined;
  // Room for a last batch that is not full.
  Vec<Tensor> lastInputs;
  Vec<Tensor> lastOutputs;
};

Status DataRun::prepare() {
  AMPC_TRY(openSession(program, options, &holder));
  AMPC_TRY(makeOutputs(program, batches.rows, &joined));
  AMPC_TRY(makeOutputs(program, -1, &lastOutputs));
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    AMPC_TRY(lastInputs.push(Tensor()).data.allocate(program.inputs[i].bytes));
  }
  return Status();
}

/// Runs rows [begin, begin + valid). Where that is less than a batch, its last
/// row fills the rest, and the rest of the outputs is dropped.
Status DataRun::batch(int64_t begin, int64_t valid) {
  bool full = valid == batches.size;
  uint64_t first = static_cast<uint64_t>(begin);
  Vec<const void *> in;
  Vec<void *> out;
  for (uint32_t i = 0; i < program.num_inputs; ++i) {
    const uint8_t *from = data[i].data.data();
    uint64_t row = batches.batched[i] ? rowBytes(program.inputs[i]) : 0;
    if (!batches.batched[i] || full) {
      in.push(from + first * row);
      continue;
    }
    uint8_t *to = lastInputs[i].data.data();
    for (int64_t r = 0; r < batches.size && row; ++r) {
      uint64_t source =
          first + static_cast<uint64_t>(r < valid ? r : valid - 1);
      memcpy(to + static_cast<uint64_t>(r) * row, from + source * row, row);
    }
    in.push(to);
  }
  for (uint32_t i = 0; i < program.num_outputs; ++i) {
    uint64_t row = rowBytes(program.outputs[i]);
    out.push(full ? joined[i].data.data() + first * row
                  : lastOutputs[i].data.data());
  }
  AMPC_TRY(runOnce(holder.session, in, out));
  for (uint32_t i = 0; !full && i < program.num_outputs; ++i) {
    uint64_t row = rowBytes(program.outputs[i]);
    if (row) {
      memcpy(joined[i].data.data() + first * row, lastOutputs[i].data.data(),
             static_cast<uint64_t>(valid) * row);
    }
  }
  return Status();
}

Status DataRun::run() {
  AMPC_TRY(prepare());
  ampc_session_set_profiling(holder.session, options.profile);
  bool progress = !options.quiet && isatty(STDERR_FILENO);
  uint64_t runs = 0;
  for (int64_t begin = 0; begin < batches.rows; begin += batches.size, ++runs) {
    int64_t rest = batches.rows - begin;
    AMPC_TRY(batch(begin, rest < batches.size ? rest : batches.size));
    if (progress) {
      int64_t done = rest < batches.size ? batches.rows : begin + batches.size;
      fprintf(stderr, "\r%lld of %lld rows", static_cast<long long>(done),
              static_cast<long long>(batches.rows));
    }
  }
  if (progress) {
    fprintf(stderr, "\n");
  }
  AMPC_TRY(deliverOutputs(program, options, joined));
  if (options.profile) {
    printProfile(holder.session, runs ? runs : 1);
  }
  return Status();
}

} // namespace

Status runCommand(const ampc_program &program, const Options &options) {
  AMPC_TRY(checkOutputs(program, options));
  Vec<Tensor> tensors;
  if (!options.data) {
    AMPC_TRY(gatherInputs(program, options, Missing::Reject, &tensors));
    return runSingle(program, options, tensors);
  }
  if (!options.inputs.empty()) {
    return Status::error(AMPC_USAGE, "expected either --data or --input");
  }
  AMPC_TRY(gatherData(program, options, &tensors));
  Batches batches;
  AMPC_TRY(planBatches(program, tensors, &batches));
  if (batches.size == 0) {
    return runSingle(program, options, tensors);
  }
  return DataRun(program, options, tensors, batches).run();
}

} // namespace ampc::runtime
