//===- convert_elements.cpp - From a file's type to an input's ------------===//
#include "runtime/training/convert_elements.h"

#include "ampc/numerics.h"

namespace ampc::runtime {
namespace {

bool isInteger(uint32_t dtype) {
  return !isFloat(dtype) && dtype != AMPC_DTYPE_BOOL && dtype != dtypeRaw16;
}

/// An integer of any type; `large` says that it is 2^63 or more.
struct Integer {
  int64_t value;
  bool large;
};

Integer loadInteger(uint32_t dtype, const uint8_t *from) {
  switch (dtype) {
  case AMPC_DTYPE_U8:
    return {*from, false};
  case AMPC_DTYPE_I8:
    return {loadLE<int8_t>(from), false};
  case AMPC_DTYPE_U16:
    return {loadLE<uint16_t>(from), false};
  case AMPC_DTYPE_I16:
    return {loadLE<int16_t>(from), false};
  case AMPC_DTYPE_U32:
    return {loadLE<uint32_t>(from), false};
  case AMPC_DTYPE_I32:
    return {loadLE<int32_t>(from), false};
  default: {
    int64_t value = loadLE<int64_t>(from);
    return {value, dtype == AMPC_DTYPE_U64 && value < 0};
  }
  }
}

/// Whether the low bytes of `number` are its value in `dtype`.
bool fits(uint32_t dtype, const Integer &number) {
  if (dtype == AMPC_DTYPE_U64) {
    return number.large || number.value >= 0;
  }
  uint8_t bytes[8];
  memcpy(bytes, &number.value, sizeof bytes);
  return !number.large && loadInteger(dtype, bytes).value == number.value;
}

Status convertIntegers(uint32_t from, uint32_t to, const uint8_t *source,
                       uint8_t *target, uint64_t count) {
  size_t fromSize = ampc_dtype_size(from), toSize = ampc_dtype_size(to);
  for (uint64_t i = 0; i < count; ++i) {
    Integer number = loadInteger(from, source + i * fromSize);
    if (!fits(to, number)) {
      Str text;
      number.large
          ? text.appendf("%llu", static_cast<unsigned long long>(number.value))
          : text.appendf("%lld", static_cast<long long>(number.value));
      return Status::error(AMPC_INVALID, "expected numbers of type %s, got %s",
                           ampc_dtype_name(to), text.c_str());
    }
    memcpy(target + i * toSize, &number.value, toSize);
  }
  return Status();
}

double loadFloat(uint32_t dtype, const uint8_t *from) {
  switch (dtype) {
  case AMPC_DTYPE_F16:
    return ampc_f16_to_f64(loadLE<uint16_t>(from));
  case AMPC_DTYPE_BF16:
    return ampc_bf16_to_f64(loadLE<uint16_t>(from));
  case AMPC_DTYPE_F32:
    return static_cast<double>(loadLE<float>(from));
  default:
    return loadLE<double>(from);
  }
}

/// Each float type is a subset of f64, from where it is rounded once.
void storeFloat(uint32_t dtype, double value, uint8_t *to) {
  switch (dtype) {
  case AMPC_DTYPE_F16:
    return storeLE(to, ampc_f64_to_f16(value));
  case AMPC_DTYPE_BF16:
    return storeLE(to, ampc_f64_to_bf16(value));
  case AMPC_DTYPE_F32:
    return storeLE(to, static_cast<float>(value));
  default:
    return storeLE(to, value);
  }
}

Status checkBools(const uint8_t *source, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (source[i] > 1) {
      return Status::error(AMPC_INVALID, "expected bools of 0 or 1, got %u",
                           source[i]);
    }
  }
  return Status();
}

} // namespace

bool ElementConversion::isCopy() const {
  return from == to || (from == dtypeRaw16 && to == AMPC_DTYPE_BF16);
}

Status ElementConversion::apply(const void *source, void *target,
                                uint64_t count) const {
  auto *in = static_cast<const uint8_t *>(source);
  auto *out = static_cast<uint8_t *>(target);
  if (isCopy()) {
    if (count) {
      memcpy(out, in, count * ampc_dtype_size(to));
    }
    return to == AMPC_DTYPE_BOOL ? checkBools(in, count) : Status();
  }
  if (isInteger(from)) {
    return convertIntegers(from, to, in, out, count);
  }
  size_t fromSize = ampc_dtype_size(from), toSize = ampc_dtype_size(to);
  for (uint64_t i = 0; i < count; ++i) {
    storeFloat(to, loadFloat(from, in + i * fromSize), out + i * toSize);
  }
  return Status();
}

Status findConversion(uint32_t from, uint32_t to, ElementConversion *out) {
  *out = {from, to, false};
  if (out->isCopy() || (isInteger(from) && isInteger(to))) {
    return Status();
  }
  if (isFloat(from) && isFloat(to)) {
    size_t fromSize = ampc_dtype_size(from), toSize = ampc_dtype_size(to);
    out->rounds = fromSize > toSize || (fromSize == toSize && from != to);
    return Status();
  }
  const char *hint = isFloat(to) && from == AMPC_DTYPE_U8
                         ? "; scale images as the model expects them and store "
                           "them as floats"
                     : isFloat(to) ? "; store it as floats"
                                   : "";
  return Status::error(
      AMPC_INVALID, "expected %s, got %s%s", ampc_dtype_name(to),
      from == dtypeRaw16 ? "raw 16-bit values (V2)" : ampc_dtype_name(from),
      hint);
}

} // namespace ampc::runtime
