//===- Tensor.cpp - A tensor value of the reference evaluator -------------===//
#include "dialects/Amp/Reference/Tensor.h"

#include "dialects/Amp/Reference/Convert.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace ampc;
using namespace ampc::ref;

std::optional<Kind> ref::getKind(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return integer.isSignless() ? std::optional(Kind::Bool) : std::nullopt;
    case 8:
      return isUnsigned ? Kind::U8 : Kind::I8;
    case 16:
      return isUnsigned ? Kind::U16 : Kind::I16;
    case 32:
      return isUnsigned ? Kind::U32 : Kind::I32;
    case 64:
      return isUnsigned ? Kind::U64 : Kind::I64;
    default:
      return std::nullopt;
    }
  }
  if (element.isF16()) {
    return Kind::F16;
  }
  if (element.isBF16()) {
    return Kind::BF16;
  }
  if (element.isF32()) {
    return Kind::F32;
  }
  if (element.isF64()) {
    return Kind::F64;
  }
  return std::nullopt;
}

unsigned ref::getByteWidth(Kind kind) {
  switch (kind) {
  case Kind::Bool:
  case Kind::I8:
  case Kind::U8:
    return 1;
  case Kind::I16:
  case Kind::U16:
  case Kind::F16:
  case Kind::BF16:
    return 2;
  case Kind::I32:
  case Kind::U32:
  case Kind::F32:
    return 4;
  case Kind::I64:
  case Kind::U64:
  case Kind::F64:
    return 8;
  }
  llvm_unreachable("all kinds are named");
}

bool ref::isFloat(Kind kind) { return kind >= Kind::F16; }

bool ref::isUnsigned(Kind kind) {
  return kind == Kind::Bool || (kind >= Kind::U8 && kind <= Kind::U64);
}

std::optional<int64_t> ref::getNumElements(ArrayRef<int64_t> shape) {
  if (llvm::is_contained(shape, 0)) {
    return 0;
  }
  std::optional<int64_t> count = 1;
  for (int64_t dim : shape) {
    count = dim < 0 ? std::nullopt : llvm::checkedMul(*count, dim);
    if (!count) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<int64_t> ref::getByteSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return std::nullopt;
  }
  auto kind = ref::getKind(tensor.getElementType());
  auto count = ref::getNumElements(tensor.getShape());
  if (!kind || !count) {
    return std::nullopt;
  }
  return llvm::checkedMul<int64_t>(*count, ref::getByteWidth(*kind));
}

//===----------------------------------------------------------------------===//
// Making tensors
//===----------------------------------------------------------------------===//

Tensor Tensor::borrow(RankedTensorType type, const char *bytes, bool splat) {
  Tensor tensor;
  tensor.type = type;
  tensor.bytes = bytes;
  tensor.count = *ref::getNumElements(type.getShape());
  tensor.kind = *ref::getKind(type.getElementType());
  tensor.splat = splat && tensor.count != 0;
  return tensor;
}

std::optional<Tensor> Tensor::allocate(RankedTensorType type, bool splat) {
  auto size = ref::getByteSize(type);
  if (!size) {
    return std::nullopt;
  }
  constexpr int64_t alignment = 64;
  int64_t bytes = splat ? 8 : *size;
  if (bytes > std::numeric_limits<int64_t>::max() - alignment) {
    return std::nullopt;
  }
  void *memory = std::aligned_alloc(
      alignment, std::max<int64_t>(llvm::alignTo(bytes, alignment), alignment));
  if (!memory) {
    return std::nullopt;
  }
  Tensor tensor = borrow(type, static_cast<char *>(memory), splat);
  tensor.owner = std::shared_ptr<char>(static_cast<char *>(memory), std::free);
  return tensor;
}

std::optional<Tensor> Tensor::zeros(RankedTensorType type) {
  auto tensor = allocate(type, /*splat=*/true);
  if (tensor) {
    std::memset(tensor->mutableBytes(), 0, 8);
  }
  return tensor;
}

std::optional<Tensor> Tensor::fromAttribute(ElementsAttr attr) {
  auto type = dyn_cast<RankedTensorType>(attr.getShapedType());
  auto size = type ? ref::getByteSize(type) : std::nullopt;
  if (!size) {
    return std::nullopt;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != *size) {
      return std::nullopt;
    }
    return borrow(type, blob->getData().data());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense) {
    return std::nullopt;
  }
  if (!type.getElementType().isInteger(1)) {
    return borrow(type, dense.getRawData().data(), dense.isSplat());
  }
  auto tensor = allocate(type, dense.isSplat());
  if (!tensor) {
    return std::nullopt;
  }
  char *out = tensor->mutableBytes();
  if (dense.isSplat() && tensor->count) {
    *out = dense.getSplatValue<bool>();
    return tensor;
  }
  for (bool value : dense.getValues<bool>()) {
    *out++ = value;
  }
  return tensor;
}

ElementsAttr Tensor::toAttribute() const {
  ArrayRef<char> stored = getBytes();
  if (kind == Kind::Bool) {
    SmallVector<bool> values(stored.begin(), stored.end());
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, stored);
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

ArrayRef<char> Tensor::getBytes() const {
  int64_t stored = splat ? 1 : count;
  return ArrayRef<char>(bytes, stored * getByteWidth());
}

char *Tensor::mutableBytes() {
  assert(owner && owner.use_count() == 1 && "bytes are shared or borrowed");
  return owner.get();
}

std::optional<Tensor> Tensor::expanded() const {
  if (!splat) {
    return *this;
  }
  auto full = allocate(type);
  if (!full) {
    return std::nullopt;
  }
  // Doubles the filled part, which starts as one element.
  int64_t filled = getByteWidth(), total = count * filled;
  char *out = full->mutableBytes();
  std::memcpy(out, bytes, filled);
  for (; filled < total; filled *= 2) {
    std::memcpy(out + filled, out, std::min(filled, total - filled));
  }
  return full;
}

Tensor Tensor::withType(RankedTensorType other) const {
  assert(ref::getNumElements(other.getShape()) == count && "another count");
  Tensor result = *this;
  result.type = other;
  result.kind = *ref::getKind(other.getElementType());
  assert(result.getByteWidth() == getByteWidth() && "another element width");
  return result;
}

double Tensor::getDouble(int64_t i) const {
  assert(i >= 0 && i < count && "index outside the tensor");
  double value;
  loadDoubles(kind, bytes + (splat ? 0 : i) * getByteWidth(), 1, 1, &value);
  return value;
}

int64_t Tensor::getInt(int64_t i) const {
  assert(i >= 0 && i < count && "index outside the tensor");
  int64_t value;
  loadInts(kind, bytes + (splat ? 0 : i) * getByteWidth(), 1, 1, &value);
  return value;
}

SmallVector<int64_t> Tensor::getInts() const {
  SmallVector<int64_t> values(count);
  loadInts(kind, bytes, splat ? 0 : 1, count, values.data());
  return values;
}

bool ref::equalBytes(const Tensor &lhs, const Tensor &rhs) {
  assert(lhs.getType() == rhs.getType() && "types differ");
  if (lhs.isSplat() == rhs.isSplat()) {
    return lhs.getBytes() == rhs.getBytes();
  }
  const Tensor &one = lhs.isSplat() ? lhs : rhs;
  const Tensor &all = lhs.isSplat() ? rhs : lhs;
  unsigned width = one.getByteWidth();
  for (int64_t i = 0, e = one.size(); i < e; ++i) {
    if (std::memcmp(all.getBytes().data() + i * width, one.getBytes().data(),
                    width) != 0) {
      return false;
    }
  }
  return true;
}
