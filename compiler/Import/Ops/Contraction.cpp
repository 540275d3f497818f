//===- Contraction.cpp - Matrix products and convolutions -----------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "compiler/Import/Ops/Windows.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {

/// MatMul with NumPy's rule that vectors are promoted and the added dimension
/// is dropped from the result.
static Value buildMatMul(Node &n, Value lhs, Value rhs) {
  if (!lhs || !rhs) {
    return {};
  }
  bool isRow = n.rank(lhs) == 1, isColumn = n.rank(rhs) == 1;
  if (n.rank(lhs) == 0 || n.rank(rhs) == 0) {
    (void)n.invalid("expected operands of rank 1 or more");
    return {};
  }
  Value a = isRow ? n.reshape(lhs, {1, n.shape(lhs)[0]}) : lhs;
  Value b = isColumn ? n.reshape(rhs, {n.shape(rhs)[0], 1}) : rhs;
  Value product = n.build<amp::MatmulOp>(a, b, Value(), /*transpose_lhs=*/false,
                                         /*transpose_rhs=*/false);
  if (!product || (!isRow && !isColumn)) {
    return product;
  }
  SmallVector<int64_t> shape(n.shape(product));
  if (isColumn) {
    shape.pop_back();
  }
  if (isRow) {
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  }
  return n.reshape(product, shape);
}

static LogicalResult convertMatMul(Node &n) {
  n.set(0, buildMatMul(n, n.in(0), n.in(1)));
  return success();
}

/// Matrix product of 8-bit integers with optional zero points, exact in i32.
static LogicalResult convertMatMulInteger(Node &n) {
  Type i32 = n.b.getI32Type();
  auto center = [&](unsigned i, unsigned zeroPoint, bool isRows) {
    Value x = n.cast(n.in(i), i32);
    if (!n.has(zeroPoint)) {
      return x;
    }
    Value zero = n.cast(n.in(zeroPoint), i32);
    // One zero point per row of A stands in a vector of M.
    if (isRows && n.rank(zero) == 1 && n.shape(zero)[0] != 1) {
      zero = n.reshape(zero, {n.shape(zero)[0], 1});
    }
    return n.build<amp::SubOp>(x, zero);
  };
  n.set(0, buildMatMul(n, center(0, 2, true), center(1, 3, false)));
  return success();
}

static LogicalResult convertGemm(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1);
  double beta = n.attrs.getFloat("beta", 1);
  n.attrs.ignore("broadcast"); // before opset 7; now the rule
  bool transA = n.attrs.getFlag("transA"), transB = n.attrs.getFlag("transB");
  Value a = n.in(0), b = n.in(1), c = n.has(2) ? n.in(2) : Value();
  if (n.rank(a) != 2 || n.rank(b) != 2) {
    return n.invalid("expected matrices");
  }
  if (beta == 0) {
    c = {};
  }
  if (alpha == 1 && (!c || beta == 1)) {
    n.set(0, n.build<amp::MatmulOp>(a, b, c, transA, transB));
    return success();
  }
  if (!n.isFloat(a)) {
    return n.unsupported("alpha or beta other than 1 on integers");
  }
  SmallVector<Value> operands{a, b};
  if (c) {
    operands.push_back(c);
  }
  n.set(0, n.composite1(operands, [&](ArrayRef<Value> in) {
    Value y = n.build<amp::MatmulOp>(in[0], in[1], Value(), transA, transB);
    Type element = n.element(y);
    if (alpha != 1) {
      y = n.build<amp::MulOp>(y, n.scalar(element, alpha));
    }
    if (in.size() == 3) {
      Value addend = beta == 1
                         ? in[2]
                         : n.build<amp::MulOp>(in[2], n.scalar(element, beta));
      y = n.build<amp::AddOp>(y, addend);
    }
    return y;
  }));
  return success();
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static Value buildConv(Node &n, Value x, Value w, Value bias) {
  int64_t group = n.attrs.getInt("group", 1);
  if (n.rank(w) != n.rank(x) || group < 1) {
    (void)n.invalid("its weight and input do not fit");
    return {};
  }
  auto window = readWindow(n, x, n.shape(w).drop_front(2));
  if (!window) {
    return {};
  }
  return n.build<amp::ConvOp>(x, w, bias, window->strides, window->pads,
                              window->dilations, group,
                              amp::Layout::ChannelsFirst);
}

static LogicalResult convertConv(Node &n) {
  n.set(0, buildConv(n, n.in(0), n.in(1), n.has(2) ? n.in(2) : Value()));
  return success();
}

static LogicalResult convertConvInteger(Node &n) {
  Type i32 = n.b.getI32Type();
  Value x = n.cast(n.in(0), i32), w = n.cast(n.in(1), i32);
  if (n.has(2)) {
    x = n.build<amp::SubOp>(x, n.reshape(n.cast(n.in(2), i32), {}));
  }
  if (n.has(3)) {
    Value zero = n.cast(n.in(3), i32);
    SmallVector<int64_t> perChannel(n.rank(w), 1);
    perChannel[0] = *countElements(n.shape(zero));
    w = n.build<amp::SubOp>(w, n.reshape(zero, perChannel));
  }
  n.set(0, buildConv(n, x, w, Value()));
  return success();
}

/// Pads that give `size` elements: what is too much is cut off by pads, what is
/// missing is added behind.
static void padToSize(int64_t natural, int64_t size, bool isUpper,
                      int64_t &begin, int64_t &end, int64_t &extra) {
  int64_t total = natural - size;
  if (total < 0) {
    extra -= total;
    total = 0;
  }
  int64_t half = total / 2;
  begin = isUpper ? half : total - half;
  end = total - begin;
}

static LogicalResult convertConvTranspose(Node &n) {
  Value x = n.in(0), w = n.in(1);
  int64_t group = n.attrs.getInt("group", 1);
  SmallVector<int64_t> extra = n.attrs.getInts("output_padding");
  SmallVector<int64_t> sizes = n.attrs.getInts("output_shape");
  std::string autoPad = n.attrs.getString("auto_pad", "NOTSET");
  if (n.rank(w) != n.rank(x) || group < 1) {
    return n.invalid("its weight and input do not fit");
  }
  auto window = readWindow(n, x, n.shape(w).drop_front(2));
  if (!window) {
    return failure();
  }
  size_t rank = window->kernel.size();
  extra.resize(extra.empty() ? rank : extra.size(), 0);
  // Some exporters write the whole shape of the result.
  if (sizes.size() == rank + 2) {
    sizes.erase(sizes.begin(), sizes.begin() + 2);
  }
  if (extra.size() != rank || (!sizes.empty() && sizes.size() != rank)) {
    return n.invalid("its output_padding or output_shape does not fit");
  }
  bool isSame = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  for (size_t i = 0; i < rank; ++i) {
    if (sizes.empty() && !isSame) {
      break;
    }
    int64_t stride = window->strides[i], in = n.shape(x)[i + 2];
    int64_t size = sizes.empty() ? in * stride : sizes[i];
    int64_t natural = stride * (in - 1) + extra[i] +
                      (window->kernel[i] - 1) * window->dilations[i] + 1;
    if (size < 0 || size > maxElements) {
      return n.invalid("an output size is out of range");
    }
    padToSize(natural, size, autoPad == "SAME_UPPER", window->pads[i],
              window->pads[i + rank], extra[i]);
  }
  n.set(0, n.build<amp::ConvTransposeOp>(x, w, n.has(2) ? n.in(2) : Value(),
                                         window->strides, window->pads,
                                         window->dilations, extra, group,
                                         amp::Layout::ChannelsFirst));
  return success();
}

void addContractionOps(OpTable &table) {
  table.add({
      {"Conv", convertConv, OpClass::of<amp::ConvOp>(), 2, 3},
      {"ConvInteger", convertConvInteger, OpClass::of<amp::ConvOp>(), 2, 4},
      {"ConvTranspose", convertConvTranspose,
       OpClass::of<amp::ConvTransposeOp>(), 2, 3},
      {"Gemm", convertGemm, AutocastClass::Lower, 2, 3},
      {"MatMul", convertMatMul, OpClass::of<amp::MatmulOp>(), 2, 2},
      {"MatMulInteger", convertMatMulInteger, OpClass::of<amp::MatmulOp>(), 2,
       4},
  });
}

} // namespace ampc::importer
