//===- data_array.h - An array of a data set, in memory or in its file ----===//
#ifndef AMPC_RUNTIME_TRAINING_DATA_ARRAY_H
#define AMPC_RUNTIME_TRAINING_DATA_ARRAY_H

#include "runtime/io/file.h"
#include "runtime/io/tensor.h"
#include "runtime/training/convert_elements.h"

namespace ampc::runtime {

/// Arrays of more bytes than this stay in their file, from which rows are read
/// one by one: the system caches what fits. They are not mapped, as a file that
/// is cut while it is mapped ends the process instead of giving an error.
constexpr uint64_t largestArrayInMemory = 256ull << 20;

/// Rows of elements; a row is everything but the first dimension. Reading is
/// free of side effects and may happen on several threads.
class DataArray {
public:
  /// Opens the array `name` of a file that holds several, or the only one of
  /// another. What lies in a compressed archive, or in column-major order, is
  /// read into memory whatever its size. Errors begin with the path.
  Status open(const char *path, const char *name, uint64_t mostInMemory);

  uint32_t dtype() const { return type; }
  const Vec<int64_t> &dims() const { return shape; }
  bool isInFile() const { return inFile; }
  Str description() const { return describe(type, shape.data(), shape.size()); }

  /// Reads `count` elements from element `first` on, converted to the type of
  /// `conversion`, whose `from` is this array's type.
  Status read(uint64_t first, uint64_t count,
              const ElementConversion &conversion, void *to) const;

private:
  Status locate(const char *path, const char *name, uint64_t mostInMemory,
                bool *outFound);
  Status readWhole(const char *path, const char *name);

  uint32_t type = AMPC_DTYPE_F32;
  Vec<int64_t> shape;
  Bytes memory;
  FileReader file; // where `inFile`
  uint64_t offset = 0;
  bool inFile = false;
};

/// Names of the arrays in a file; none for a format that has no names.
Status listArrays(const char *path, Vec<Str> *outNames);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_DATA_ARRAY_H
