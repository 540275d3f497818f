//===- Print.cpp - Tensors as text, and how far two are apart -------------===//
#include "tools/ampc-eval/Print.h"

#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Strided.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace ampc;
using namespace ampc::eval;
using namespace ampc::ref;

static void printElement(raw_ostream &out, const Tensor &tensor, int64_t i) {
  if (isFloat(tensor.getKind()) && std::isnan(tensor.getDouble(i))) {
    out << "nan";
    return;
  }
  switch (tensor.getKind()) {
  case Kind::F16:
  case Kind::BF16:
    out << format("%.5g", tensor.getDouble(i));
    return;
  case Kind::F32:
    out << format("%.9g", tensor.getDouble(i));
    return;
  case Kind::F64:
    out << format("%.17g", tensor.getDouble(i));
    return;
  case Kind::Bool:
    out << (tensor.getInt(i) ? "true" : "false");
    return;
  case Kind::U64:
    out << static_cast<uint64_t>(tensor.getInt(i));
    return;
  default:
    out << tensor.getInt(i);
  }
}

void eval::printElements(raw_ostream &out, const Tensor &tensor,
                         int64_t limit) {
  Dims strides = getStrides(tensor.getShape());
  if (tensor.size() == 0) {
    out << "[]";
    return;
  }
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (i == limit) {
      out << " ...";
      return;
    }
    out << (i ? ", " : "");
    for (int64_t d = 0; d < tensor.getRank(); ++d) {
      out << (i % (strides[d] * tensor.getShape()[d]) == 0 ? "[" : "");
    }
    printElement(out, tensor, i);
    for (int64_t d = 0; d < tensor.getRank(); ++d) {
      out << ((i + 1) % (strides[d] * tensor.getShape()[d]) == 0 ? "]" : "");
    }
  }
}

/// A mixing of bits after which neighbouring inputs have nothing in common.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::optional<Tensor> eval::getRandom(mlir::RankedTensorType type,
                                      uint64_t seed) {
  auto tensor = Tensor::allocate(type);
  if (!tensor) {
    return std::nullopt;
  }
  Kind kind = tensor->getKind();
  char *to = tensor->mutableBytes();
  for (int64_t i = 0; i < tensor->size(); ++i, to += getByteWidth(kind)) {
    uint64_t bits = mix(mix(seed) + static_cast<uint64_t>(i)) >> 11;
    if (isFloat(kind)) {
      double value = static_cast<double>(bits) * 0x1p-52 - 1;
      storeDoubles(kind, &value, 1, to);
    } else {
      int64_t value =
          static_cast<int64_t>(bits % (kind == Kind::Bool ? 2 : 10));
      storeInts(kind, &value, 1, to);
    }
  }
  return tensor;
}

Difference eval::getDifference(const Tensor &reference, const Tensor &value) {
  double squares = 0, norm = 0;
  Difference result;
  for (int64_t i = 0; i < reference.size(); ++i) {
    double x = reference.getDouble(i), y = value.getDouble(i);
    if (std::isfinite(x) && std::isfinite(y)) {
      squares += (x - y) * (x - y);
      norm += x * x;
      result.largest = std::max(result.largest, std::abs(x - y));
    } else if (x != y && !(std::isnan(x) && std::isnan(y))) {
      result.largest = squares = HUGE_VAL;
    }
  }
  result.relative = std::sqrt(squares) / (norm > 0 ? std::sqrt(norm) : 1);
  return result;
}
