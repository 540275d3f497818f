//===- checkpoint_write.cpp - The state of a trainer into a file ----------===//
#include "runtime/core/checksum.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/checkpoint_format.h"

namespace ampc::runtime {
namespace {

void addText(Vec<SafetensorsText> *out, const char *key, Str value) {
  SafetensorsText text;
  text.key = Str(key);
  text.value = std::move(value);
  out->push(std::move(text));
}

void addNumber(Vec<SafetensorsText> *out, const char *key, uint64_t value) {
  Str text;
  text.appendf("%llu", static_cast<unsigned long long>(value));
  addText(out, key, std::move(text));
}

/// Hexadecimal, as it has to come back to the bit.
void addReal(Vec<SafetensorsText> *out, const char *key, double value) {
  Str text;
  text.appendf("%a", value);
  addText(out, key, std::move(text));
}

Vec<SafetensorsText> makeTexts(const ampc_program &program,
                               const CheckpointInfo &info) {
  const RunShape &shape = info.identity.shape;
  const Progress &progress = info.progress;
  Vec<SafetensorsText> out;
  addText(&out, checkpointKey, Str(checkpointVersion));
  addText(&out, "producer", Str(program.producer ? program.producer : ""));
  addText(&out, "program", Str(program.name ? program.name : ""));
  addText(&out, "fingerprint", stateFingerprint(program));
  addNumber(&out, "step", progress.step);
  addNumber(&out, "epoch", shape.epochOf(progress.step));
  addNumber(&out, "batch", shape.firstBatch(progress.step));
  addNumber(&out, "skipped_before", progress.skippedBefore);
  addNumber(&out, "epoch_open", progress.epochOpen);
  addReal(&out, "epoch_loss", progress.lossSum);
  addReal(&out, "epoch_weight", progress.weightSum);
  addReal(&out, "epoch_correct", progress.correctSum);
  addReal(&out, "epoch_count", progress.countSum);
  addNumber(&out, "seed", info.identity.seed);
  addNumber(&out, "rows", shape.rows);
  addNumber(&out, "batch_size", shape.batch);
  addNumber(&out, "accumulate", shape.accumulate);
  addText(&out, "last_batch", Str(lastBatchName(shape.lastBatch)));
  addText(&out, "schedule", info.schedule.copy());
  return out;
}

} // namespace

Str stateFingerprint(const ampc_program &program) {
  Sha256 hash;
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    if (isKept(state)) {
      Str text;
      text.appendf("%u %s ", state.role, describe(state.tensor).c_str());
      text.append(state.tensor.name);
      text.appendChar('\n');
      hash.update(text);
    }
  }
  return hash.finish();
}

const char *lastBatchName(LastBatch kind) {
  return kind == LastBatch::Pad ? "pad" : "drop";
}

static Status write(ampc_session session, const char *path,
                    const CheckpointInfo &info) {
  const ampc_program &program = *ampc_session_program(session);
  Vec<TensorView> views;
  uint64_t most = 0;
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    if (isKept(state)) {
      const ampc_tensor_desc &tensor = state.tensor;
      if (strcmp(tensor.name, checksumTensor) == 0 ||
          strcmp(tensor.name, "__metadata__") == 0) {
        return Status::error(AMPC_UNSUPPORTED,
                             "a state named '%s' has no place in a checkpoint",
                             tensor.name);
      }
      views.push({tensor.name, tensor.dtype, tensor.dims, tensor.rank, nullptr,
                  tensor.bytes});
      most = tensor.bytes > most ? tensor.bytes : most;
    }
  }
  const int64_t sumCount = static_cast<int64_t>(views.size()) + 2;
  views.push({checksumTensor, AMPC_DTYPE_U32, &sumCount, 1, nullptr,
              static_cast<uint64_t>(sumCount) * sizeof(uint32_t)});
  Str header;
  AMPC_TRY(makeSafetensorsHeader(views.data(), views.size(),
                                 makeTexts(program, info), &header));
  FileWriter file;
  AMPC_TRY(file.open(path));
  AMPC_TRY(file.write(header.c_str(), header.size()));
  Vec<uint32_t> sums;
  sums.push(crc32c(0, header.c_str(), header.size()));
  Bytes buffer;
  AMPC_TRY(buffer.allocate(most));
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    if (isKept(state)) {
      AMPC_TRY(Status(ampc_session_read_state(session, i, buffer.data())));
      sums.push(crc32c(0, buffer.data(), state.tensor.bytes));
      AMPC_TRY(file.write(buffer.data(), state.tensor.bytes));
    }
  }
  sums.push(crc32c(0, sums.data(), sums.size() * sizeof(uint32_t)));
  AMPC_TRY(file.write(sums.data(), sums.size() * sizeof(uint32_t)));
  return file.commit();
}

Status writeCheckpoint(ampc_session session, const char *path,
                       const CheckpointInfo &info) {
  return write(session, path, info).withPrefix(path);
}

} // namespace ampc::runtime
