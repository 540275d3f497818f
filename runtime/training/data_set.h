//===- data_set.h - Samples for a trainer, in batches ---------------------===//
#ifndef AMPC_RUNTIME_TRAINING_DATA_SET_H
#define AMPC_RUNTIME_TRAINING_DATA_SET_H

#include "runtime/training/data_array.h"
#include "runtime/training/trainer.h"

namespace ampc::runtime {

/// A batch in memory: a buffer for each input of `step`.
class Batch {
public:
  Status allocate(const Trainer &trainer);

  /// What the entry takes as inputs.
  const void *const *inputs() const { return pointers.data(); }

  Vec<Bytes> buffers; // empty for `samples`
  int64_t samples = 0;

private:
  friend class DataSet;
  Vec<const void *> pointers;
  bool hasFixed = false; // inputs without samples are filled in
};

/// The arrays for the inputs of `step` and `eval`. Gathering is free of side
/// effects, so that several threads may do it.
class DataSet {
public:
  /// Opens the arrays that `text` names: a file that holds them by the inputs'
  /// names, or NAME=@FILE,NAME=@FILE,... Their rows must agree; labels are
  /// checked against the classes that the program knows. Remarks, one a line,
  /// go to `*outNotes`.
  Status open(const Trainer &trainer, const char *text, uint64_t mostInMemory,
              Str *outNotes);

  uint64_t rows() const { return rowCount; }

  /// Fills a batch with the samples `order[0..count)`, and repeats the last of
  /// them where the batch is larger; without `order`, the samples from `first`
  /// on. An error names the sample.
  Status gather(const uint64_t *order, uint64_t first, int64_t count,
                Batch *out) const;

  /// The first float of a batch that is not finite: its input and its place
  /// among the samples. Returns false if there is none.
  bool findNonfinite(const Batch &batch, uint32_t *outInput,
                     int64_t *outPlace) const;

private:
  Status openArrays(const char *text, uint64_t mostInMemory);
  Status place(const char *path, uint32_t index, uint64_t mostInMemory);
  Status noteUnused(const char *path, Str *outNotes) const;
  Status checkRows(Str *outNotes);
  Status checkLabels() const;

  const Trainer *trainer = nullptr;
  Vec<DataArray> arrays; // one an input; that of `samples` is not open
  Vec<ElementConversion> conversions;
  Vec<uint64_t> rowElements; // of one row, or of all where not batched
  uint64_t rowCount = 0;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_DATA_SET_H
