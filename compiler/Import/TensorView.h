//===- TensorView.h - Checked access to a tensor of a model ---------------===//
#ifndef AMPC_COMPILER_IMPORT_TENSORVIEW_H
#define AMPC_COMPILER_IMPORT_TENSORVIEW_H

#include "compiler/Import/ImportDiagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ampc::onnx {
class SparseTensorProto;
class TensorProto;
} // namespace ampc::onnx

namespace ampc::importer {

class ModelFile;

/// A dense tensor: an ONNX element type (TensorProto.DataType), a shape, and
/// the elements in row-major order, little-endian, sub-byte types packed low
/// bits first. `bytes` has exactly the size that type and shape need, and lives
/// as long as the ModelFile; it is aligned for nothing.
struct TensorView {
  int32_t elementType = 0;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t numElements = 0;
  llvm::ArrayRef<uint8_t> bytes;

  /// Whether the bytes lie in a mapped file (or the message), not in a copy.
  bool isShared = true;
};

/// Bits of one element of an ONNX type; 0 for a type that no tensor can be
/// read with (strings, unknown values).
unsigned getElementBits(int32_t elementType);

/// ONNX's spelling of an element type, such as `float16`; `type 99` if unknown.
std::string getElementTypeName(int32_t elementType);

/// Largest number of elements of one tensor, of any origin, and of a shape
/// written in a model. Products of dimensions never reach the range of int64.
constexpr int64_t maxElements = int64_t(1) << 35;

/// Most dimensions of one tensor.
constexpr size_t maxRank = 64;

/// The product of `shape`, or nothing when a dimension is negative or the
/// product exceeds maxElements.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// Reads any TensorProto of `model`, wherever its elements are stored. Reports
/// to `diags` under the name `where` and returns nothing on a breach.
std::optional<TensorView> readTensor(ModelFile &model,
                                     const onnx::TensorProto &tensor,
                                     llvm::StringRef where,
                                     ImportDiagnostics &diags);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_TENSORVIEW_H
