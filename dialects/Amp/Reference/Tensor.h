//===- Tensor.h - A tensor value of the reference evaluator ---------------===//
#ifndef AMPC_DIALECTS_AMP_REFERENCE_TENSOR_H
#define AMPC_DIALECTS_AMP_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

#include <memory>
#include <optional>

namespace ampc::ref {

/// How an element is stored. Booleans take one byte, 0 or 1.
enum class Kind : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64
};

/// The storage of elements of `element`, or nullopt if there is none.
std::optional<Kind> getKind(mlir::Type element);
/// Bytes of one element: 1, 2, 4 or 8.
unsigned getByteWidth(Kind kind);
bool isFloat(Kind kind);
/// Whether the kind is an unsigned integer or a boolean.
bool isUnsigned(Kind kind);

/// The number of elements of a static shape, or nullopt on overflow.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> shape);
/// The bytes of all elements of a static tensor of a storable element type,
/// or nullopt when there is no such number below 2^63.
std::optional<int64_t> getByteSize(mlir::Type type);

/// An immutable tensor: a type and contiguous bytes in row-major order, owned,
/// shared, or borrowed from an attribute or a mapped file. A splat holds one
/// element for all. Bytes of borrowed tensors may lie at any address, so
/// elements are read with memcpy. Copies are cheap: they share the bytes.
class Tensor {
public:
  Tensor() = default;

  /// A view of bytes that outlive it; they must have the type's size, or one
  /// element's when `splat`.
  static Tensor borrow(mlir::RankedTensorType type, const char *bytes,
                       bool splat = false);
  /// A tensor with new bytes of any value, or nullopt when there is no memory.
  /// They may be written through `mutableBytes` until the tensor is copied.
  static std::optional<Tensor> allocate(mlir::RankedTensorType type,
                                        bool splat = false);
  /// As allocate, of bytes 0.
  static std::optional<Tensor> zeros(mlir::RankedTensorType type);

  /// The tensor of `dense<>` or `dense_resource<>`: borrowed, but for booleans
  /// of `dense<>`, whose packed bits are spread. nullopt for another attribute,
  /// a resource that is missing or of the wrong size, or an element type
  /// without storage.
  static std::optional<Tensor> fromAttribute(mlir::ElementsAttr attr);
  /// A `dense<>` of the same value; splats are detected.
  mlir::ElementsAttr toAttribute() const;

  explicit operator bool() const { return static_cast<bool>(type); }
  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getRank() const { return type.getRank(); }
  int64_t size() const { return count; }
  Kind getKind() const { return kind; }
  unsigned getByteWidth() const { return ref::getByteWidth(kind); }
  bool isSplat() const { return splat; }

  /// The stored bytes: of all elements, or of one when splat.
  llvm::ArrayRef<char> getBytes() const;
  char *mutableBytes();
  /// The same tensor with all its elements stored, or nullopt when there is no
  /// memory for them.
  std::optional<Tensor> expanded() const;
  /// The same bytes under another type of equal count and element width.
  Tensor withType(mlir::RankedTensorType other) const;

  /// Element `i` in row-major order as f64 (exact but for 64-bit integers) or
  /// as a sign- or zero-extended integer (floats: truncated, see convert).
  double getDouble(int64_t i) const;
  int64_t getInt(int64_t i) const;
  /// All elements as integers, for shapes and indices.
  llvm::SmallVector<int64_t> getInts() const;

private:
  mlir::RankedTensorType type;
  std::shared_ptr<char> owner;
  const char *bytes = nullptr;
  int64_t count = 0;
  Kind kind = Kind::Bool;
  bool splat = false;
};

/// Whether the bytes of the two tensors are equal; the types must be.
bool equalBytes(const Tensor &lhs, const Tensor &rhs);

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_TENSOR_H
