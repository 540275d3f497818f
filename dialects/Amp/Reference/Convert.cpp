//===- Convert.cpp - Elements between storage and arithmetic --------------===//
#include "dialects/Amp/Reference/Convert.h"

#include "runtime/include/ampc/numerics.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ampc;
using namespace ampc::ref;

namespace {
template <typename T>
T read(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void write(char *to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// An integer of more than 53 bits rounded to odd: the last bit that is kept is
/// set when any dropped one is.
double toDouble(uint64_t magnitude) {
  if (magnitude >> 53) {
    unsigned drop = 11 - llvm::countl_zero(magnitude);
    uint64_t rest = magnitude & ((uint64_t(1) << drop) - 1);
    magnitude = ((magnitude >> drop) | (rest != 0)) << drop;
  }
  return static_cast<double>(magnitude);
}

double toDouble(int64_t value) {
  return value < 0 ? -toDouble(uint64_t(0) - static_cast<uint64_t>(value))
                   : toDouble(static_cast<uint64_t>(value));
}

/// Towards zero, bounded to the values of T; NaN gives 0.
template <typename T>
T truncateTo(double value) {
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  // One above the largest, which for 64 bits is not a double.
  constexpr double high =
      2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  if (std::isnan(value)) {
    return 0;
  }
  return value <= low   ? std::numeric_limits<T>::min()
         : value < high ? static_cast<T>(value)
                        : std::numeric_limits<T>::max();
}

int64_t truncate(double value) { return truncateTo<int64_t>(value); }

/// Calls `body` with the signed or unsigned C++ type that stores an integer.
template <typename Body>
void withInteger(Kind kind, Body body) {
  switch (kind) {
  case Kind::Bool:
  case Kind::U8:
    return body(uint8_t());
  case Kind::I8:
    return body(int8_t());
  case Kind::I16:
    return body(int16_t());
  case Kind::U16:
    return body(uint16_t());
  case Kind::I32:
    return body(int32_t());
  case Kind::U32:
    return body(uint32_t());
  case Kind::I64:
    return body(int64_t());
  case Kind::U64:
    return body(uint64_t());
  default:
    llvm_unreachable("not an integer");
  }
}

template <typename Raw, typename To, typename Map>
void loadAll(const char *from, int64_t stride, int64_t count, To *to, Map map) {
  int64_t step = stride * static_cast<int64_t>(sizeof(Raw));
  for (int64_t i = 0; i < count; ++i, from += step) {
    to[i] = map(read<Raw>(from));
  }
}

template <typename From, typename Map>
void storeAll(const From *from, int64_t count, char *to, Map map) {
  for (int64_t i = 0; i < count; ++i) {
    auto value = map(from[i]);
    write(to, value);
    to += sizeof value;
  }
}
} // namespace

void ref::loadDoubles(Kind kind, const char *from, int64_t stride,
                      int64_t count, double *to) {
  switch (kind) {
  case Kind::F64:
    return loadAll<double>(from, stride, count, to, [](double x) { return x; });
  case Kind::F32:
    return loadAll<float>(from, stride, count, to,
                          [](float x) -> double { return x; });
  case Kind::F16:
    return loadAll<uint16_t>(from, stride, count, to, ampc_f16_to_f64);
  case Kind::BF16:
    return loadAll<uint16_t>(from, stride, count, to, ampc_bf16_to_f64);
  default:
    return withInteger(kind, [&](auto raw) {
      using Raw = decltype(raw);
      using Wide = std::conditional_t<std::is_signed_v<Raw>, int64_t, uint64_t>;
      loadAll<Raw>(from, stride, count, to,
                   [](Raw x) { return toDouble(static_cast<Wide>(x)); });
    });
  }
}

void ref::loadInts(Kind kind, const char *from, int64_t stride, int64_t count,
                   int64_t *to) {
  switch (kind) {
  case Kind::F64:
    return loadAll<double>(from, stride, count, to, truncate);
  case Kind::F32:
    return loadAll<float>(from, stride, count, to, truncate);
  case Kind::F16:
    return loadAll<uint16_t>(from, stride, count, to, [](uint16_t x) {
      return truncate(ampc_f16_to_f64(x));
    });
  case Kind::BF16:
    return loadAll<uint16_t>(from, stride, count, to, [](uint16_t x) {
      return truncate(ampc_bf16_to_f64(x));
    });
  default:
    return withInteger(kind, [&](auto raw) {
      using Raw = decltype(raw);
      loadAll<Raw>(from, stride, count, to,
                   [](Raw x) { return static_cast<int64_t>(x); });
    });
  }
}

void ref::storeDoubles(Kind kind, const double *from, int64_t count, char *to) {
  switch (kind) {
  case Kind::F64:
    return storeAll(from, count, to, [](double x) { return x; });
  case Kind::F32:
    return storeAll(from, count, to,
                    [](double x) { return static_cast<float>(x); });
  case Kind::F16:
    return storeAll(from, count, to, ampc_f64_to_f16);
  case Kind::BF16:
    return storeAll(from, count, to, ampc_f64_to_bf16);
  case Kind::Bool:
    return storeAll(from, count, to,
                    [](double x) -> uint8_t { return x != 0; });
  case Kind::U64:
    // Half of this type's range lies outside of i64's.
    return storeAll(from, count, to, [](double x) {
      return x < 0 ? static_cast<uint64_t>(truncate(x))
                   : truncateTo<uint64_t>(x);
    });
  default:
    return withInteger(kind, [&](auto raw) {
      using Raw = decltype(raw);
      using Wide =
          std::conditional_t<(sizeof(Raw) < 4 || std::is_same_v<Raw, int32_t>),
                             int32_t, int64_t>;
      storeAll(from, count, to,
               [](double x) { return static_cast<Raw>(truncateTo<Wide>(x)); });
    });
  }
}

void ref::storeInts(Kind kind, const int64_t *from, int64_t count, char *to) {
  if (kind == Kind::Bool) {
    return storeAll(from, count, to,
                    [](int64_t x) -> uint8_t { return x != 0; });
  }
  withInteger(kind, [&](auto raw) {
    using Raw = decltype(raw);
    storeAll(from, count, to, [](int64_t x) { return static_cast<Raw>(x); });
  });
}

double ref::roundTo(Kind kind, double value) {
  char raw[8];
  storeDoubles(kind, &value, 1, raw);
  loadDoubles(kind, raw, 1, 1, &value);
  return value;
}

double ref::getLargest(Kind kind) {
  switch (kind) {
  case Kind::F16:
    return AMPC_F16_MAX;
  case Kind::BF16:
    return AMPC_BF16_MAX;
  case Kind::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

//===----------------------------------------------------------------------===//
// Casts of whole tensors
//===----------------------------------------------------------------------===//

/// The casts of weights, without a detour through double.
static bool convertDirectly(Kind from, Kind to, const char *in, int64_t count,
                            char *out) {
  auto map = [&](auto raw, auto convert) {
    using Raw = decltype(raw);
    for (int64_t i = 0; i < count; ++i) {
      auto value = convert(read<Raw>(in + i * sizeof(Raw)));
      write(out + i * sizeof value, value);
    }
    return true;
  };
  if (from == Kind::F32 && to == Kind::BF16) {
    return map(float(), ampc_f32_to_bf16);
  }
  if (from == Kind::F32 && to == Kind::F16) {
    return map(float(), ampc_f32_to_f16);
  }
  if (from == Kind::BF16 && to == Kind::F32) {
    return map(uint16_t(), ampc_bf16_to_f32);
  }
  if (from == Kind::F16 && to == Kind::F32) {
    return map(uint16_t(), ampc_f16_to_f32);
  }
  return false;
}

std::optional<Tensor> ref::convert(const Tensor &input, Type element,
                                   bool saturate) {
  Kind from = input.getKind(), to = *ref::getKind(element);
  RankedTensorType type = input.getType().clone(element);
  if (from == to) {
    return input.withType(type);
  }
  auto result = Tensor::allocate(type, input.isSplat());
  if (!result) {
    return std::nullopt;
  }
  const char *in = input.getBytes().data();
  char *out = result->mutableBytes();
  int64_t count = input.isSplat() ? 1 : input.size();
  if (!saturate && convertDirectly(from, to, in, count, out)) {
    return result;
  }
  constexpr int64_t chunk = 512;
  int64_t inWidth = ref::getByteWidth(from), outWidth = ref::getByteWidth(to);
  for (int64_t i = 0; i < count; i += chunk) {
    int64_t n = std::min(chunk, count - i);
    const char *source = in + i * inWidth;
    char *target = out + i * outWidth;
    if (!ref::isFloat(from) && !ref::isFloat(to)) {
      int64_t values[chunk];
      loadInts(from, source, 1, n, values);
      storeInts(to, values, n, target);
      continue;
    }
    double values[chunk];
    loadDoubles(from, source, 1, n, values);
    if (to == Kind::F64 && !ref::isFloat(from)) {
      // Rounding to odd serves narrower floats only.
      int64_t wide[chunk];
      loadInts(from, source, 1, n, wide);
      for (int64_t j = 0; j < n; ++j) {
        values[j] = from == Kind::U64
                        ? static_cast<double>(static_cast<uint64_t>(wide[j]))
                        : static_cast<double>(wide[j]);
      }
    }
    if (saturate && ref::isFloat(to)) {
      double largest = getLargest(to);
      for (double &value : llvm::MutableArrayRef<double>(values, n)) {
        value = std::isnan(value)
                    ? value
                    : std::min(std::max(value, -largest), largest);
      }
    }
    storeDoubles(to, values, n, target);
  }
  return result;
}
