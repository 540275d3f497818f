//===- Constants.cpp - Constants, generators, what a shape tells ----------===//
#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"

#include <cmath>

using namespace mlir;

namespace ampc::importer {

/// The type named by attribute `name`, or `otherwise` without it; null after
/// reporting.
static Type readTypeAttribute(Node &n, StringRef name, Type otherwise) {
  auto onnxType = n.attrs.findInt(name);
  if (!onnxType) {
    return otherwise;
  }
  Type element =
      getElementType(n.b.getContext(), static_cast<int32_t>(*onnxType));
  if (!element) {
    (void)n.unsupported("element type " +
                        getElementTypeName(static_cast<int32_t>(*onnxType)));
  }
  return element;
}

static LogicalResult convertConstant(Node &n) {
  HostTensor tensor;
  auto setType = [&](Type element, std::optional<int64_t> size) {
    SmallVector<int64_t, 1> shape;
    if (size) {
      shape.push_back(*size);
    }
    tensor.type = RankedTensorType::get(shape, element);
  };
  if (const onnx::TensorProto *value = n.attrs.findTensor("value")) {
    n.set(0, n.importer.importTensor(*value, n.label, n.loc));
    return success();
  }
  if (const onnx::SparseTensorProto *value =
          n.attrs.findSparseTensor("sparse_value")) {
    n.set(0, n.importer.importSparseTensor(*value, n.label, n.loc));
    return success();
  }
  if (auto value = n.attrs.findFloat("value_float")) {
    setType(n.b.getF32Type(), std::nullopt);
    tensor.floats.push_back(*value);
  } else if (auto values = n.attrs.findFloats("value_floats")) {
    setType(n.b.getF32Type(), values->size());
    tensor.floats.assign(values->begin(), values->end());
  } else if (auto value = n.attrs.findInt("value_int")) {
    setType(n.b.getI64Type(), std::nullopt);
    tensor.ints.push_back(*value);
  } else if (auto values = n.attrs.findInts("value_ints")) {
    setType(n.b.getI64Type(), values->size());
    tensor.ints.assign(values->begin(), values->end());
  } else if (n.attrs.has("value_string") || n.attrs.has("value_strings")) {
    return n.unsupported("strings");
  } else {
    return n.invalid("it has no value");
  }
  n.set(0, n.constant(tensor));
  return success();
}

static LogicalResult convertConstantOfShape(Node &n) {
  auto shape = n.constantInts(0, "shape");
  if (!shape) {
    return failure();
  }
  if (!countElements(*shape)) {
    return n.invalid("its shape has a negative dimension or too many elements");
  }
  const onnx::TensorProto *proto = n.attrs.findTensor("value");
  if (!proto) {
    n.set(0, n.splat(RankedTensorType::get(*shape, n.b.getF32Type()), 0));
    return success();
  }
  Value value = n.importer.importTensor(*proto, n.label, n.loc);
  if (!value) {
    n.markFailed();
    return failure();
  }
  if (n.shape(value) != ArrayRef<int64_t>{1} && n.rank(value) != 0) {
    return n.invalid("expected one element as value");
  }
  auto attr = cast<DenseElementsAttr>(
      value.getDefiningOp<amp::ConstantOp>().getValue());
  auto type = RankedTensorType::get(*shape, n.element(value));
  n.set(0, n.constant(
               DenseElementsAttr::get(type, *attr.value_begin<Attribute>())));
  return success();
}

static LogicalResult convertIdentity(Node &n) {
  if (n.entity(0).sequence) {
    n.setSequence(0, *n.entity(0).sequence);
  } else {
    n.set(0, n.in(0));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes as values
//===----------------------------------------------------------------------===//

static LogicalResult convertShape(Node &n) {
  ArrayRef<int64_t> shape = n.shape(n.in(0));
  int64_t rank = shape.size();
  auto clampIndex = [&](int64_t index) {
    return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  int64_t start = clampIndex(n.attrs.getInt("start", 0));
  int64_t end = clampIndex(n.attrs.getInt("end", rank));
  n.set(0, n.ints(shape.slice(start, std::max<int64_t>(end - start, 0))));
  return success();
}

static LogicalResult convertSize(Node &n) {
  int64_t size = *countElements(n.shape(n.in(0)));
  HostTensor tensor;
  tensor.type = RankedTensorType::get({}, n.b.getI64Type());
  tensor.ints.push_back(size);
  n.set(0, n.constant(tensor));
  return success();
}

//===----------------------------------------------------------------------===//
// Generators
//===----------------------------------------------------------------------===//

/// start + delta * [0, 1, ...], computed in the element type.
static Value buildProgression(Node &n, Value start, Value delta,
                              int64_t count) {
  Value index = n.iota(n.element(start), {count}, 0);
  Value offsets = n.build<amp::MulOp>(index, n.reshape(delta, {}));
  return n.build<amp::AddOp>(offsets, n.reshape(start, {}));
}

static LogicalResult convertRange(Node &n) {
  n.attrs.ignore("stash_type");
  auto start = n.constantFloats(0, "start"),
       limit = n.constantFloats(1, "limit"),
       delta = n.constantFloats(2, "delta");
  if (!start || !limit || !delta) {
    return failure();
  }
  if (start->size() != 1 || limit->size() != 1 || delta->size() != 1) {
    return n.invalid("expected scalars");
  }
  if ((*delta)[0] == 0) {
    return n.invalid("its delta is zero");
  }
  double count = std::ceil(((*limit)[0] - (*start)[0]) / (*delta)[0]);
  if (!(count < static_cast<double>(maxElements))) {
    return n.invalid("it has too many elements");
  }
  n.set(0, buildProgression(n, n.in(0), n.in(2),
                            std::max<int64_t>(static_cast<int64_t>(count), 0)));
  return success();
}

static LogicalResult convertEyeLike(Node &n) {
  Value x = n.in(0);
  int64_t offset = n.attrs.getInt("k", 0);
  Type element = readTypeAttribute(n, "dtype", n.element(x));
  if (!element) {
    return failure();
  }
  if (n.rank(x) != 2) {
    return n.invalid("expected a matrix");
  }
  Type index = n.b.getI64Type();
  Value row = n.iota(index, {n.shape(x)[0], 1}, 0);
  Value column = n.iota(index, {1, n.shape(x)[1]}, 1);
  Value diagonal = n.build<amp::AddOp>(row, n.scalar(index, offset));
  Value isOn =
      n.build<amp::CompareOp>(diagonal, column, amp::ComparePredicate::EQ);
  n.set(0, n.cast(isOn, element));
  return success();
}

/// A window of cosines: sum of coefficient[k] * cos(2 pi k i / span).
static LogicalResult convertWindow(Node &n, ArrayRef<double> coefficients) {
  bool isPeriodic = n.attrs.getFlag("periodic", true);
  Type element = readTypeAttribute(n, "output_datatype", n.b.getF32Type());
  auto size = n.constantInt(0, "size");
  if (!element || !size) {
    return failure();
  }
  if (*size < 0 || *size > maxHostElements) {
    return n.unsupported("size " + Twine(*size));
  }
  HostTensor window;
  window.type = RankedTensorType::get({*size}, n.b.getF64Type());
  double span = static_cast<double>(isPeriodic ? *size : *size - 1);
  for (int64_t i = 0; i < *size; ++i) {
    double value = 0;
    for (auto [k, coefficient] : llvm::enumerate(coefficients)) {
      double angle = span == 0 ? 0 : 2 * M_PI * k * i / span;
      value += coefficient * std::cos(angle);
    }
    window.floats.push_back(value);
  }
  if (isa<FloatType>(element)) {
    window.type = window.type.clone(element);
    n.set(0, n.constant(window));
    return success();
  }
  n.set(0, n.cast(n.constant(window), element));
  return success();
}

static LogicalResult convertHann(Node &n) {
  return convertWindow(n, {0.5, -0.5});
}
static LogicalResult convertHamming(Node &n) {
  return convertWindow(n, {25.0 / 46, -21.0 / 46});
}
static LogicalResult convertBlackman(Node &n) {
  return convertWindow(n, {0.42, -0.5, 0.08});
}

void addConstantOps(OpTable &table) {
  table.add({
      {"BlackmanWindow", convertBlackman, OpClass::none(), 1, 1},
      {"Constant", convertConstant, OpClass::none(), 0, 0},
      {"ConstantOfShape", convertConstantOfShape, OpClass::none(), 1, 1},
      {"EyeLike", convertEyeLike, OpClass::none(), 1, 1},
      {"HammingWindow", convertHamming, OpClass::none(), 1, 1},
      {"HannWindow", convertHann, OpClass::none(), 1, 1},
      {"Identity", convertIdentity, OpClass::none(), 1, 1},
      {"Range", convertRange, OpClass::none(), 3, 3},
      {"Shape", convertShape, OpClass::none(), 1, 1},
      {"Size", convertSize, OpClass::none(), 1, 1},
  });
}

} // namespace ampc::importer
