//===- npy.h - The .npy format, alone or inside a .npz --------------------===//
#ifndef AMPC_RUNTIME_IO_NPY_H
#define AMPC_RUNTIME_IO_NPY_H

#include "runtime/io/tensor.h"

namespace ampc::runtime {

/// Bytes that come in order: a file, or a compressed member of an archive.
struct ByteSource {
  void *context;
  /// Fills `to` with the next bytes.
  Status (*read)(void *context, void *to, uint64_t length);
  uint64_t size; // of all bytes together
};

/// What the header of a .npy says.
struct NpyHeader {
  uint32_t dtype = 0; // an ampc_dtype or dtypeRaw16
  bool fortranOrder = false;
  Vec<int64_t> dims;
};

/// Parses the header's text, a Python dictionary of exactly the keys 'descr',
/// 'fortran_order' and 'shape' with literal values. Nothing else is accepted,
/// and nothing is evaluated.
Status parseNpyHeader(const char *text, size_t length, NpyHeader *outHeader);

/// Reads up to the data, whose size must be that of `source` less what comes
/// before it, `*outOffset`.
Status readNpyHeader(const ByteSource &source, NpyHeader *outHeader,
                     uint64_t *outOffset);

/// A member of an archive or a file as a source from `offset` on.
struct FileCursor {
  const FileReader *file;
  uint64_t offset;
  static Status read(void *context, void *to, uint64_t length);
};

/// Reads one .npy, which must fill `source` exactly.
Status readNpyStream(const ByteSource &source, const ReadOptions &options,
                     Tensor *outTensor);

/// Magic, version and header for `tensor`, a multiple of 64 bytes long.
Status makeNpyHeader(const TensorView &tensor, Str *outHeader);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_IO_NPY_H
