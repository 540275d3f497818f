//===- training_facts.h - What the metadata says of a trainer -------------===//
#ifndef AMPC_RUNTIME_TRAINING_TRAINING_FACTS_H
#define AMPC_RUNTIME_TRAINING_TRAINING_FACTS_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// Where a parameter's first value lies in the files of the original model.
struct InitializerPlace {
  Str name;                  // of the initializer and of its state
  Str file;                  // beside the model; empty: the model itself
  bool isContiguous = false; // else there is no range of bytes to overwrite
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t dtype = 0; // there; the state may be wider
};

/// What an input of `apply` is where nobody says otherwise.
struct NumberDefault {
  Str name;
  double value = 0;
};

/// What the metadata says of a trainer. What it does not say keeps its default.
struct TrainingFacts {
  bool computesF16Gradients = false;
  Str optimizer;
  Str label; // the input with the labels; empty: there is none known
  Vec<NumberDefault> defaults;
  bool hasClasses = false;
  int64_t classes = 0; // labels are below, and not negative
  bool hasIgnoreIndex = false;
  int64_t ignoreIndex = 0; // the one label that may be anything

  Str modelFile;
  bool hasModelBytes = false;
  uint64_t modelBytes = 0;
  Str modelSha256; // empty: not known
  bool hasModelCrc32c = false;
  uint32_t modelCrc32c = 0;
  Vec<InitializerPlace> initializers;

  /// The program's own default for an input of `apply`, or null.
  const double *findDefault(const char *name) const;
};

/// AMPC_INVALID if the metadata is no JSON or a known key has a wrong value.
Status readTrainingFacts(const char *metadata, TrainingFacts *outFacts);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_TRAINING_FACTS_H
