//===- literals.cpp - Inputs written on the command line ------------------===//
#include "ampc/numerics.h"
#include "runtime/core/dtype.h"
#include "runtime/program/command_line.h"

#include <errno.h>

namespace ampc::runtime {
namespace {

Status makeTensor(const ampc_tensor_desc &desc, Tensor *out) {
  out->name = Str(desc.name);
  out->dtype = desc.dtype;
  out->dims.clear();
  for (uint32_t i = 0; i < desc.rank; ++i) {
    out->dims.push(desc.dims[i]);
  }
  return out->data.allocate(desc.bytes);
}

void storeFloat(uint32_t dtype, double value, uint8_t *to) {
  switch (dtype) {
  case AMPC_DTYPE_F32:
    storeLE(to, static_cast<float>(value));
    break;
  case AMPC_DTYPE_F64:
    storeLE(to, value);
    break;
  case AMPC_DTYPE_F16:
    storeLE(to, ampc_f64_to_f16(value));
    break;
  default:
    storeLE(to, ampc_f64_to_bf16(value));
    break;
  }
}

/// Range of an integer type; u64 is read on its own.
void integerRange(uint32_t dtype, int64_t *low, int64_t *high) {
  unsigned bits = static_cast<unsigned>(ampc_dtype_size(dtype)) * 8;
  bool isSigned = dtype == AMPC_DTYPE_I8 || dtype == AMPC_DTYPE_I16 ||
                  dtype == AMPC_DTYPE_I32 || dtype == AMPC_DTYPE_I64;
  if (dtype == AMPC_DTYPE_BOOL) {
    bits = 1;
  }
  *high = INT64_MAX >> (isSigned ? 64 - bits : 63 - bits);
  *low = isSigned ? -*high - 1 : 0;
}

/// Reads one number at `text` into `to`; `*outEnd` is `text` if it is none.
bool storeNumber(uint32_t dtype, const char *text, char **outEnd, uint8_t *to) {
  errno = 0;
  if (isFloat(dtype)) {
    double value = strtod(text, outEnd);
    storeFloat(dtype, value, to);
    return *outEnd != text;
  }
  if (dtype == AMPC_DTYPE_U64) {
    uint64_t value = strtoull(text, outEnd, 10);
    storeLE(to, value);
    return *outEnd != text && !errno && *text != '-';
  }
  for (const char *word : {"false", "true"}) {
    size_t length = strlen(word);
    if (dtype == AMPC_DTYPE_BOOL && strncmp(text, word, length) == 0) {
      *to = *word == 't';
      *outEnd = const_cast<char *>(text) + length;
      return true;
    }
  }
  int64_t low, high;
  integerRange(dtype, &low, &high);
  int64_t value = strtoll(text, outEnd, 10);
  memcpy(to, &value, ampc_dtype_size(dtype));
  return *outEnd != text && !errno && value >= low && value <= high;
}

/// A generator whose numbers depend on the seed alone (splitmix64).
uint64_t nextRandom(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

} // namespace

bool isLiteral(const char *value) {
  TensorFormat format;
  const char *equals = strchr(value, '=');
  return value[0] != '@' && !(equals && equals[1] == '@') &&
         !findFormat(value, &format).ok();
}

Status skipType(const ampc_tensor_desc &desc, const char **value) {
  const char *equals = strchr(*value, '=');
  if (!equals || **value == '@') {
    return Status();
  }
  Str expected;
  for (uint32_t i = 0; i < desc.rank; ++i) {
    expected.appendf("%lldx", static_cast<long long>(desc.dims[i]));
  }
  expected.append(ampc_dtype_name(desc.dtype));
  Str got(*value, static_cast<size_t>(equals - *value));
  if (!got.equals(expected.c_str())) {
    return Status::error(AMPC_USAGE, "input '%s': expected %s, got '%s'",
                         desc.name, expected.c_str(), got.c_str());
  }
  *value = equals + 1;
  return Status();
}

Status fillRandom(const ampc_tensor_desc &desc, uint64_t seed,
                  Tensor *outTensor) {
  AMPC_TRY(makeTensor(desc, outTensor));
  size_t size = ampc_dtype_size(desc.dtype);
  uint64_t state = seed;
  for (uint64_t at = 0; at < desc.bytes; at += size) {
    uint64_t bits = nextRandom(&state);
    uint8_t *to = outTensor->data.data() + at;
    if (isFloat(desc.dtype)) {
      // 24 bits: exact in f32, in [0, 1).
      storeFloat(desc.dtype, static_cast<double>(bits >> 40) / 16777216.0, to);
    } else {
      uint64_t zeroOrOne = bits >> 63;
      memcpy(to, &zeroOrOne, size);
    }
  }
  return Status();
}

Status fillBelow(const ampc_tensor_desc &desc, uint64_t count, uint64_t seed,
                 Tensor *outTensor) {
  AMPC_TRY(makeTensor(desc, outTensor));
  size_t size = ampc_dtype_size(desc.dtype);
  uint64_t state = seed;
  for (uint64_t at = 0; at < desc.bytes; at += size) {
    uint8_t bytes[8];
    storeLE(bytes, (nextRandom(&state) >> 32) % count);
    memcpy(outTensor->data.data() + at, bytes, size);
  }
  return Status();
}

Status fillZero(const ampc_tensor_desc &desc, Tensor *outTensor) {
  AMPC_TRY(makeTensor(desc, outTensor));
  memset(outTensor->data.data(), 0, desc.bytes);
  return Status();
}

Status parseLiteral(const ampc_tensor_desc &desc, const char *value,
                    uint64_t seed, Tensor *outTensor) {
  AMPC_TRY(skipType(desc, &value));
  if (strcmp(value, "random") == 0) {
    return fillRandom(desc, seed, outTensor);
  }
  AMPC_TRY(makeTensor(desc, outTensor));
  size_t size = ampc_dtype_size(desc.dtype);
  uint64_t elements = desc.bytes / size;
  uint8_t *data = outTensor->data.data();
  uint64_t count = 0;
  for (const char *at = value; *at; ++count) {
    uint8_t element[8] = {};
    char *end = nullptr;
    bool good = storeNumber(desc.dtype, at, &end, element);
    if (!good || (*end && *end != ',' && *end != ' ')) {
      return Status::error(AMPC_USAGE,
                           "input '%s': expected numbers of type %s, 'random' "
                           "or @FILE, got '%s'",
                           desc.name, ampc_dtype_name(desc.dtype), at);
    }
    if (count < elements) {
      memcpy(data + count * size, element, size);
    }
    at = *end ? end + 1 : end;
  }
  if (count != elements && count != 1) {
    return Status::error(AMPC_USAGE,
                         "input '%s': expected 1 or %llu numbers, got %llu",
                         desc.name, static_cast<unsigned long long>(elements),
                         static_cast<unsigned long long>(count));
  }
  for (uint64_t i = 1; count == 1 && i < elements; ++i) {
    memcpy(data + i * size, data, size);
  }
  return Status();
}

} // namespace ampc::runtime
