//===- export_model.h - The original model with trained parameters --------===//
#ifndef AMPC_RUNTIME_TRAINING_EXPORT_MODEL_H
#define AMPC_RUNTIME_TRAINING_EXPORT_MODEL_H

#include "runtime/io/file.h"
#include "runtime/training/trainer.h"

namespace ampc::runtime {

/// Copies the files of the model that a trainer was made of, and overwrites the
/// bytes of the initializers that have a state. Everything else stays as it
/// is, to the byte.
class ModelExport {
public:
  /// Finds the model, where the metadata says or `model` (may be null), and
  /// makes sure that it is the same file, so that nothing fails only after the
  /// training. AMPC_UNSUPPORTED names the initializers that cannot be written.
  Status open(const Trainer &trainer, const char *model, const char *target);
  /// Writes `target`, and beside it the files with the model's external data.
  Status write(ampc_session session);

private:
  struct Patch {
    uint32_t state = 0;
    const InitializerPlace *place = nullptr;
    uint32_t file = 0; // of `files`
  };
  struct File {
    Str source;
    Str target;
    FileReader reader;
  };

  Status addPatch(const InitializerPlace &place);
  Status addFile(const Str &name, uint32_t *outIndex);
  Status checkModel(const char *hint);
  Status checkPatches();
  Status writeFile(ampc_session session, uint32_t index);
  Status writePatch(ampc_session session, const Patch &patch, FileWriter *out);

  const Trainer *trainer = nullptr;
  Vec<File> files; // the model first
  Vec<Patch> patches;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_EXPORT_MODEL_H
