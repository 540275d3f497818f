//===- ConstantTensors.cpp - A model's tensors as attributes --------------===//
#include "compiler/Import/ConstantTensors.h"

#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/ModelFile.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace ampc::importer {

/// Whether all elements have the same bits. Weights differ within their first
/// bytes, so this rarely reads far.
static bool isSplat(const TensorView &view, size_t width) {
  ArrayRef<uint8_t> bytes = view.bytes;
  return bytes.size() > width &&
         memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

ElementsAttr makeElementsAttr(MLIRContext *context, const TensorView &view,
                              StringRef name,
                              std::shared_ptr<ModelFile> model) {
  Type element = getElementType(context, view.elementType);
  auto type = RankedTensorType::get(view.shape, element);
  ArrayRef<char> raw(reinterpret_cast<const char *>(view.bytes.data()),
                     view.bytes.size());
  if (element.isInteger(1)) {
    SmallVector<bool> values;
    values.reserve(raw.size());
    for (char byte : raw) {
      values.push_back(byte != 0);
    }
    return DenseElementsAttr::get(type, values);
  }
  size_t width = element.getIntOrFloatBitWidth() / 8;
  if (isSplat(view, width)) {
    return DenseElementsAttr::getFromRawBuffer(type, raw.take_front(width));
  }
  if (view.numElements <= maxInlineElements) {
    return DenseElementsAttr::getFromRawBuffer(type, raw);
  }
  return DenseResourceElementsAttr::get(type, name.empty() ? "weight" : name,
                                        makeBlob(view.bytes, std::move(model)));
}

AsmResourceBlob makeBlob(ArrayRef<uint8_t> bytes,
                         std::shared_ptr<const void> owner) {
  // The file aligns nothing; say what alignment the bytes happen to have.
  auto address = reinterpret_cast<uintptr_t>(bytes.data());
  size_t alignment = address % 64 == 0 ? 64 : address & -address;
  auto keepAlive = [owner = std::move(owner)](void *, size_t, size_t) {};
  ArrayRef<char> raw(reinterpret_cast<const char *>(bytes.data()),
                     bytes.size());
  return AsmResourceBlob(raw, alignment, std::move(keepAlive),
                         /*dataIsMutable=*/false);
}

/// One position of a sparse tensor: `index` holds a linear position, or one
/// coordinate per dimension.
static std::optional<int64_t> flatPosition(ArrayRef<int64_t> index,
                                           ArrayRef<int64_t> shape,
                                           int64_t numElements) {
  if (index.size() == 1 && shape.size() != 1) {
    return index[0] >= 0 && index[0] < numElements ? std::optional(index[0])
                                                   : std::nullopt;
  }
  int64_t flat = 0;
  for (auto [coordinate, dim] : llvm::zip_equal(index, shape)) {
    if (coordinate < 0 || coordinate >= dim) {
      return std::nullopt;
    }
    flat = flat * dim + coordinate;
  }
  return flat;
}

std::optional<TensorView>
readSparseTensor(ModelFile &model, const onnx::SparseTensorProto &tensor,
                 StringRef where, ImportDiagnostics &diags) {
  constexpr int64_t maxDenseBytes = int64_t(1) << 28;
  auto values = readTensor(model, tensor.values(), where, diags);
  auto indices = readTensor(model, tensor.indices(), where, diags);
  if (!values || !indices) {
    return std::nullopt;
  }
  TensorView view;
  view.elementType = values->elementType;
  view.shape.assign(tensor.dims().begin(), tensor.dims().end());
  view.isShared = false;
  auto count = countElements(view.shape);
  unsigned bits = getElementBits(view.elementType);
  if (!count || bits % 8 != 0 || *count * (bits / 8) > maxDenseBytes) {
    (void)diags.limit(where, "sparse tensor of more than " +
                                 Twine(maxDenseBytes) + " bytes");
    return std::nullopt;
  }
  view.numElements = *count;
  int64_t stored = values->numElements;
  bool isLinear = indices->shape.size() == 1;
  int64_t width = isLinear ? 1 : static_cast<int64_t>(view.shape.size());
  if (indices->elementType != onnx::TensorProto::INT64 ||
      values->shape.size() != 1 || indices->shape.size() > 2 ||
      indices->numElements != stored * width) {
    (void)diags.invalid(where, "indices of a sparse tensor do not fit its "
                               "values");
    return std::nullopt;
  }
  MutableArrayRef<uint8_t> bytes =
      model.allocateBytes(static_cast<uint64_t>(*count) * (bits / 8));
  std::fill(bytes.begin(), bytes.end(), uint8_t(0));
  SmallVector<int64_t> index(width);
  for (int64_t i = 0; i < stored; ++i) {
    memcpy(index.data(), indices->bytes.data() + i * width * sizeof(int64_t),
           width * sizeof(int64_t));
    auto flat = flatPosition(index, view.shape, *count);
    if (!flat) {
      (void)diags.invalid(where, "sparse tensor has an index outside its "
                                 "shape");
      return std::nullopt;
    }
    memcpy(bytes.data() + *flat * (bits / 8),
           values->bytes.data() + i * (bits / 8), bits / 8);
  }
  view.bytes = bytes;
  return view;
}

} // namespace ampc::importer
