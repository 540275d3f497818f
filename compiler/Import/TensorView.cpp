//===- TensorView.cpp - Checked access to a tensor of a model -------------===//
#include "compiler/Import/TensorView.h"

#include "compiler/Import/ModelFile.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace ampc::importer {

using onnx::TensorProto;

namespace {
/// Where a type's values stand when they are not raw. Entries wider than the
/// type hold it in their low bytes; sub-byte types fill one byte an entry.
enum class TypedField : uint8_t { None, Float, Int32, Int64, Double, Uint64 };

struct ElementType {
  int32_t value;
  const char *name;
  uint8_t bits;
  TypedField field;
};
} // namespace

static_assert(endianness::native == endianness::little,
              "tensors are shared with the file, which is little-endian");

constexpr ElementType elementTypes[] = {
    {TensorProto::FLOAT, "float", 32, TypedField::Float},
    {TensorProto::UINT8, "uint8", 8, TypedField::Int32},
    {TensorProto::INT8, "int8", 8, TypedField::Int32},
    {TensorProto::UINT16, "uint16", 16, TypedField::Int32},
    {TensorProto::INT16, "int16", 16, TypedField::Int32},
    {TensorProto::INT32, "int32", 32, TypedField::Int32},
    {TensorProto::INT64, "int64", 64, TypedField::Int64},
    {TensorProto::STRING, "string", 0, TypedField::None},
    {TensorProto::BOOL, "bool", 8, TypedField::Int32},
    {TensorProto::FLOAT16, "float16", 16, TypedField::Int32},
    {TensorProto::DOUBLE, "double", 64, TypedField::Double},
    {TensorProto::UINT32, "uint32", 32, TypedField::Uint64},
    {TensorProto::UINT64, "uint64", 64, TypedField::Uint64},
    {TensorProto::COMPLEX64, "complex64", 64, TypedField::Float},
    {TensorProto::COMPLEX128, "complex128", 128, TypedField::Double},
    {TensorProto::BFLOAT16, "bfloat16", 16, TypedField::Int32},
    {TensorProto::FLOAT8E4M3FN, "float8e4m3fn", 8, TypedField::Int32},
    {TensorProto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8, TypedField::Int32},
    {TensorProto::FLOAT8E5M2, "float8e5m2", 8, TypedField::Int32},
    {TensorProto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8, TypedField::Int32},
    {TensorProto::UINT4, "uint4", 4, TypedField::Int32},
    {TensorProto::INT4, "int4", 4, TypedField::Int32},
    {TensorProto::FLOAT4E2M1, "float4e2m1", 4, TypedField::Int32},
    {TensorProto::FLOAT8E8M0, "float8e8m0", 8, TypedField::Int32},
    {TensorProto::UINT2, "uint2", 2, TypedField::Int32},
    {TensorProto::INT2, "int2", 2, TypedField::Int32},
    {TensorProto::FLOAT6E2M3, "float6e2m3", 0, TypedField::None},
    {TensorProto::FLOAT6E3M2, "float6e3m2", 0, TypedField::None},
};

static const ElementType *findElementType(int32_t value) {
  for (const ElementType &type : elementTypes) {
    if (type.value == value) {
      return &type;
    }
  }
  return nullptr;
}

unsigned getElementBits(int32_t elementType) {
  const ElementType *type = findElementType(elementType);
  return type ? type->bits : 0;
}

std::string getElementTypeName(int32_t elementType) {
  const ElementType *type = findElementType(elementType);
  return type ? type->name : "type " + std::to_string(elementType);
}

std::optional<int64_t> countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  bool isEmpty = false;
  for (int64_t dim : shape) {
    if (dim < 0 || dim > maxElements) {
      return std::nullopt;
    }
    if (dim == 0) {
      isEmpty = true;
      continue;
    }
    std::optional<int64_t> product = checkedMul(count, dim);
    if (!product || *product > maxElements) {
      return std::nullopt;
    }
    count = *product;
  }
  return isEmpty ? 0 : count;
}

/// Copies the low `width` bytes of each entry.
template <typename Entries>
static ArrayRef<uint8_t> narrowEntries(ModelFile &model, const Entries &entries,
                                       unsigned width) {
  MutableArrayRef<uint8_t> copy =
      model.allocateBytes(static_cast<uint64_t>(entries.size()) * width);
  for (int i = 0; i < entries.size(); ++i) {
    auto value = entries.Get(i);
    memcpy(copy.data() + static_cast<size_t>(i) * width, &value, width);
  }
  return copy;
}

template <typename Entries>
static ArrayRef<uint8_t> shareEntries(const Entries &entries) {
  return {reinterpret_cast<const uint8_t *>(entries.data()),
          static_cast<size_t>(entries.size()) * sizeof(*entries.data())};
}

/// The bytes in the typed field that belongs to the element type.
static ArrayRef<uint8_t> readTypedField(ModelFile &model,
                                        const TensorProto &tensor,
                                        const ElementType &type,
                                        bool &isShared) {
  unsigned width = std::max(type.bits / 8, 1);
  isShared = true;
  switch (type.field) {
  case TypedField::Float:
    return shareEntries(tensor.float_data());
  case TypedField::Double:
    return shareEntries(tensor.double_data());
  case TypedField::Int64:
    return shareEntries(tensor.int64_data());
  case TypedField::Uint64:
    if (width == 8) {
      return shareEntries(tensor.uint64_data());
    }
    isShared = false;
    return narrowEntries(model, tensor.uint64_data(), width);
  case TypedField::Int32:
    if (width == 4) {
      return shareEntries(tensor.int32_data());
    }
    isShared = false;
    return narrowEntries(model, tensor.int32_data(), width);
  case TypedField::None:
    break;
  }
  return {};
}

/// How many of the places that can hold elements are in use.
static unsigned countStores(const TensorProto &tensor) {
  return (tensor.has_raw_data() || tensor.has_raw_slice()) +
         (tensor.float_data_size() != 0) + (tensor.int32_data_size() != 0) +
         (tensor.string_data_size() != 0) + (tensor.int64_data_size() != 0) +
         (tensor.double_data_size() != 0) + (tensor.uint64_data_size() != 0);
}

std::optional<TensorView> readTensor(ModelFile &model,
                                     const TensorProto &tensor, StringRef where,
                                     ImportDiagnostics &diags) {
  const ElementType *type = findElementType(tensor.data_type());
  if (!type) {
    (void)diags.invalid(where, "tensor has unknown element type " +
                                   Twine(tensor.data_type()));
    return std::nullopt;
  }
  if (type->bits == 0) {
    (void)diags.unsupported(
        where, Twine("unsupported element type of a tensor: ") + type->name);
    return std::nullopt;
  }
  if (tensor.has_segment()) {
    (void)diags.unsupported(where, "unsupported tensor: stored in segments");
    return std::nullopt;
  }
  if (static_cast<size_t>(tensor.dims_size()) > maxRank) {
    (void)diags.limit(where,
                      "tensor has more than " + Twine(maxRank) + " dimensions");
    return std::nullopt;
  }
  TensorView view;
  view.elementType = tensor.data_type();
  view.shape.assign(tensor.dims().begin(), tensor.dims().end());
  std::optional<int64_t> count = countElements(view.shape);
  if (!count) {
    (void)diags.invalid(where, "tensor has a negative dimension or more than " +
                                   Twine(maxElements) + " elements");
    return std::nullopt;
  }
  view.numElements = *count;
  // At most 2^35 elements of 128 bits: no overflow.
  uint64_t size = divideCeil(static_cast<uint64_t>(*count) * type->bits, 8);

  unsigned stores = countStores(tensor);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (stores != 0) {
      (void)diags.invalid(where, "tensor has both external and own data");
      return std::nullopt;
    }
    auto bytes = model.getExternalData().read(tensor, size, where, diags);
    if (!bytes) {
      return std::nullopt;
    }
    view.bytes = *bytes;
    return view;
  }
  if (stores > 1 || (tensor.has_raw_data() && tensor.has_raw_slice())) {
    (void)diags.invalid(where, "tensor stores its elements twice");
    return std::nullopt;
  }
  if (tensor.has_raw_slice()) {
    view.bytes = model.getSlice(tensor.raw_slice());
  } else if (tensor.has_raw_data()) {
    StringRef raw = tensor.raw_data();
    view.bytes = {raw.bytes_begin(), raw.bytes_end()};
  } else {
    view.bytes = readTypedField(model, tensor, *type, view.isShared);
  }
  if (view.bytes.size() != size) {
    (void)diags.invalid(where, "expected " + Twine(size) +
                                   " bytes of elements for " + type->name +
                                   " and " + Twine(*count) + " elements, got " +
                                   Twine(view.bytes.size()));
    return std::nullopt;
  }
  return view;
}

} // namespace ampc::importer
