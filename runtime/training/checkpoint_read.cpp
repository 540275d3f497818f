//===- checkpoint_read.cpp - The state of a trainer out of a file ---------===//
#include "runtime/core/checksum.h"
#include "runtime/training/checkpoint.h"
#include "runtime/training/checkpoint_format.h"

#include <errno.h>

namespace ampc::runtime {
namespace {

/// CRC-32C of [begin, end) of a file.
Status sumRange(const FileReader &file, uint64_t begin, uint64_t end,
                uint32_t *outSum) {
  Bytes piece;
  constexpr uint64_t most = 1u << 18;
  AMPC_TRY(piece.allocate(end - begin < most ? end - begin : most));
  *outSum = 0;
  while (begin < end) {
    uint64_t taken = end - begin < most ? end - begin : most;
    AMPC_TRY(file.read(begin, piece.data(), taken));
    *outSum = crc32c(*outSum, piece.data(), taken);
    begin += taken;
  }
  return Status();
}

const Str *findText(const SafetensorsHeader &header, const char *key) {
  for (const SafetensorsText &text : header.metadata) {
    if (text.key.equals(key)) {
      return &text.value;
    }
  }
  return nullptr;
}

Status malformed(const char *key) {
  return Status::error(AMPC_INVALID, "__metadata__: expected a number '%s'",
                       key);
}

Status takeNumber(const SafetensorsHeader &header, const char *key,
                  uint64_t *out) {
  const Str *text = findText(header, key);
  if (!text || text->c_str()[0] < '0' || text->c_str()[0] > '9') {
    return malformed(key);
  }
  char *end;
  errno = 0;
  *out = strtoull(text->c_str(), &end, 10);
  return errno || *end ? malformed(key) : Status();
}

Status takeReal(const SafetensorsHeader &header, const char *key, double *out) {
  const Str *text = findText(header, key);
  char *end = nullptr;
  *out = text ? strtod(text->c_str(), &end) : 0;
  return !text || text->empty() || *end ? malformed(key) : Status();
}

bool sameTensor(const SafetensorsEntry &entry, const ampc_tensor_desc &desc) {
  return entry.name.equals(desc.name) && entry.dtype == desc.dtype &&
         entry.dims.size() == desc.rank &&
         (desc.rank == 0 || memcmp(entry.dims.data(), desc.dims,
                                   desc.rank * sizeof *desc.dims) == 0);
}

} // namespace

/// The texts; what they say holds because their checksum does.
Status Checkpoint::readInfo() {
  Progress &progress = found.progress;
  RunShape &shape = found.identity.shape;
  AMPC_TRY(takeNumber(header, "step", &progress.step));
  AMPC_TRY(takeNumber(header, "skipped_before", &progress.skippedBefore));
  uint64_t open;
  AMPC_TRY(takeNumber(header, "epoch_open", &open));
  progress.epochOpen = open != 0;
  AMPC_TRY(takeReal(header, "epoch_loss", &progress.lossSum));
  AMPC_TRY(takeReal(header, "epoch_weight", &progress.weightSum));
  AMPC_TRY(takeReal(header, "epoch_correct", &progress.correctSum));
  AMPC_TRY(takeReal(header, "epoch_count", &progress.countSum));
  AMPC_TRY(takeNumber(header, "seed", &found.identity.seed));
  AMPC_TRY(takeNumber(header, "rows", &shape.rows));
  AMPC_TRY(takeNumber(header, "batch_size", &shape.batch));
  AMPC_TRY(takeNumber(header, "accumulate", &shape.accumulate));
  const Str *lastBatch = findText(header, "last_batch");
  const Str *schedule = findText(header, "schedule");
  if (!lastBatch || !schedule) {
    return Status::error(AMPC_INVALID,
                         "__metadata__: expected 'last_batch' and 'schedule'");
  }
  shape.lastBatch = lastBatch->equals(lastBatchName(LastBatch::Pad))
                        ? LastBatch::Pad
                        : LastBatch::Drop;
  found.schedule = schedule->copy();
  return Status();
}

/// Compares each checksum; the last entry holds them.
Status Checkpoint::verify() const {
  size_t count = header.entries.size();
  const SafetensorsEntry *last = count ? &header.entries[count - 1] : nullptr;
  uint64_t bytes = (count + 1) * sizeof(uint32_t);
  if (!last || !last->name.equals(checksumTensor) ||
      last->end - last->begin != bytes) {
    return Status::error(AMPC_INVALID, "expected the checksums of %zu tensors",
                         count ? count - 1 : 0);
  }
  Vec<uint32_t> sums;
  sums.resize(count + 1);
  AMPC_TRY(file.read(last->begin, sums.data(), bytes));
  if (crc32c(0, sums.data(), count * sizeof(uint32_t)) != sums[count]) {
    return Status::error(AMPC_INVALID, "the checksums are damaged");
  }
  uint32_t sum;
  AMPC_TRY(sumRange(file, 0, header.dataOffset, &sum));
  if (sum != sums[0]) {
    return Status::error(AMPC_INVALID, "the header is damaged");
  }
  for (size_t i = 0; i + 1 < count; ++i) {
    const SafetensorsEntry &entry = header.entries[i];
    AMPC_TRY(sumRange(file, entry.begin, entry.end, &sum));
    if (sum != sums[i + 1]) {
      return Status::error(AMPC_INVALID, "tensor '%s' is damaged",
                           entry.name.c_str());
    }
  }
  return Status();
}

Status Checkpoint::check(const ampc_program &program, bool *outForeign) {
  AMPC_TRY(readSafetensorsHeader(file, &header));
  const Str *version = findText(header, checkpointKey);
  if (!version) {
    return Status::error(AMPC_INVALID, "expected a checkpoint of a trainer");
  }
  AMPC_TRY(verify());
  const Str *fingerprint = findText(header, "fingerprint");
  const Str *name = findText(header, "program");
  if (!version->equals(checkpointVersion) || !fingerprint ||
      !fingerprint->equals(stateFingerprint(program).c_str())) {
    *outForeign = true;
    return Status::error(AMPC_INVALID,
                         "it is of another program ('%s') or version",
                         name ? name->c_str() : "");
  }
  size_t kept = 0;
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    entryOfState.push(SIZE_MAX);
    if (!isKept(state)) {
      continue;
    }
    // They are written in this order.
    if (kept + 1 >= header.entries.size() ||
        !sameTensor(header.entries[kept], state.tensor)) {
      return Status::error(AMPC_INVALID, "expected the state '%s' (%s)",
                           state.tensor.name, describe(state.tensor).c_str());
    }
    entryOfState[i] = kept++;
  }
  if (kept + 1 != header.entries.size()) {
    return Status::error(AMPC_INVALID, "unknown tensor '%s'",
                         header.entries[kept].name.c_str());
  }
  return readInfo();
}

Status Checkpoint::open(const ampc_program &program, const char *path,
                        bool *outForeign) {
  *outForeign = false;
  AMPC_TRY(file.open(path).withPrefix(path));
  Status status = check(program, outForeign);
  if (status.ok() || status.code() == AMPC_IO) {
    return std::move(status).withPrefix(path);
  }
  return Status::error(AMPC_CHECKPOINT, "%s: unusable checkpoint: %s", path,
                       status.message());
}

Status Checkpoint::load(ampc_session session) const {
  uint64_t most = 0;
  for (const SafetensorsEntry &entry : header.entries) {
    most = entry.end - entry.begin > most ? entry.end - entry.begin : most;
  }
  Bytes buffer;
  AMPC_TRY(buffer.allocate(most));
  for (uint32_t i = 0; i < entryOfState.size(); ++i) {
    if (entryOfState[i] != SIZE_MAX) {
      const SafetensorsEntry &entry = header.entries[entryOfState[i]];
      AMPC_TRY(file.read(entry.begin, buffer.data(), entry.end - entry.begin));
      AMPC_TRY(Status(ampc_session_write_state(session, i, buffer.data())));
    }
  }
  return Status();
}

} // namespace ampc::runtime
