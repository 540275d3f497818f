//===- safetensors.h - The header of .safetensors files -------------------===//
#ifndef AMPC_RUNTIME_IO_SAFETENSORS_H
#define AMPC_RUNTIME_IO_SAFETENSORS_H

#include "runtime/io/file.h"
#include "runtime/io/tensor.h"

namespace ampc::runtime {

struct SafetensorsEntry {
  Str name;
  Str type;           // as the file calls it
  uint32_t dtype = 0; // 0: a type that this runtime does not have
  Vec<int64_t> dims;
  uint64_t begin = 0; // in the file
  uint64_t end = 0;
  size_t order = 0; // in the header
};

/// A pair of `__metadata__`.
struct SafetensorsText {
  Str key;
  Str value;
};

struct SafetensorsHeader {
  Vec<SafetensorsEntry> entries; // in the header's order
  Vec<SafetensorsText> metadata;
  uint64_t dataOffset = 0; // of the first tensor in the file
};

/// Reads and checks everything but the tensors' data: the entries lie inside
/// the file and cover it without holes or overlap.
Status readSafetensorsHeader(const FileReader &file,
                             SafetensorsHeader *outHeader);

/// The bytes of a file before the data of these tensors, whose `data` is not
/// looked at.
Status makeSafetensorsHeader(const TensorView *tensors, size_t count,
                             const Vec<SafetensorsText> &metadata,
                             Str *outHeader);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_IO_SAFETENSORS_H
