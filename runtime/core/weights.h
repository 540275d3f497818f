//===- weights.h - The constant section of a program ----------------------===//
#ifndef AMPC_RUNTIME_CORE_WEIGHTS_H
#define AMPC_RUNTIME_CORE_WEIGHTS_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// The weights of a program: inside it, or a file mapped for as long as this
/// lives.
class Weights {
public:
  Weights() = default;
  Weights(const Weights &) = delete;
  Weights &operator=(const Weights &) = delete;
  ~Weights();

  /// `folder` is where a weight file lies; null: beside the program.
  Status open(const ampc_program &program, const char *folder);
  const void *base() const { return data; }

private:
  Status map(const char *path, uint64_t offset, uint64_t bytes);

  const void *data = nullptr;
  void *mapping = nullptr;
  uint64_t mappingBytes = 0;
};

/// Folder of the executable or shared library that holds `address`, with its
/// last slash. AMPC_IO when it cannot be known (code made in memory).
Status findModuleFolder(const void *address, Str *outFolder);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_WEIGHTS_H
