//===- tensorboard.h - Event files for TensorBoard ------------------------===//
#ifndef AMPC_RUNTIME_TRAINING_TENSORBOARD_H
#define AMPC_RUNTIME_TRAINING_TENSORBOARD_H

#include "runtime/training/append_file.h"

namespace ampc::runtime {

struct ScalarEvent {
  Str tag;
  double value;
};

/// Writes TFRecords (length, its masked CRC-32C, data, its masked CRC-32C) of
/// `Event` messages (tensorflow/core/util/event.proto,
/// framework/summary.proto).
class EventFile {
public:
  /// Makes the folder and a file in it of a new name.
  Status open(const char *folder);
  bool isOpen() const { return file.isOpen(); }
  Status scalars(uint64_t step, const Vec<ScalarEvent> &values);

private:
  AppendFile file;
};

/// One record, as readers expect it.
Str makeRecord(const Str &data);
/// An Event with the file's version, or, with values, with a summary of them.
Str makeEvent(double wallTime, uint64_t step, const Vec<ScalarEvent> &values);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_TENSORBOARD_H
