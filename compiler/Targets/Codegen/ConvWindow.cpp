//===- ConvWindow.cpp - What a convolution reads --------------------------===//
#include "compiler/Targets/Codegen/ConvWindow.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ampc::codegen;

Value ConvWindow::locate(KernelEmitter &e, size_t i, Value out, Value tap,
                         Value &inside) const {
  auto require = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value test = arith::CmpIOp::create(e.b, e.loc, predicate, lhs, rhs);
    inside = inside ? arith::AndIOp::create(e.b, e.loc, inside, test) : test;
  };
  int64_t low = pads[i], high = pads[i + rank()];
  Value offset = e.mulIndex(tap, dilations[i]);
  Value position;
  if (!transposed) {
    position = e.addIndex(e.addIndex(e.mulIndex(out, strides[i]), offset),
                          e.index(-low));
    if (low <= 0 && high <= 0) {
      return position;
    }
  } else {
    // out = position * stride + tap * dilation - low
    position = arith::SubIOp::create(e.b, e.loc, e.addIndex(out, e.index(low)),
                                     offset);
    if (strides[i] != 1) {
      // A negative numerator is out of range in the unsigned sense below.
      Value stride = e.index(strides[i]);
      require(arith::CmpIPredicate::eq,
              arith::RemSIOp::create(e.b, e.loc, position, stride), e.index(0));
      position = arith::DivSIOp::create(e.b, e.loc, position, stride);
    }
  }
  // One unsigned comparison covers both sides.
  require(arith::CmpIPredicate::ult, position, e.index(sizes[i]));
  return position;
}
