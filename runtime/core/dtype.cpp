//===- dtype.cpp - Element types and shapes -------------------------------===//
#include "runtime/core/dtype.h"

#include "ampc/numerics.h"

size_t ampc_dtype_size(uint32_t dtype) {
  switch (dtype) {
  case AMPC_DTYPE_U8:
  case AMPC_DTYPE_I8:
  case AMPC_DTYPE_BOOL:
    return 1;
  case AMPC_DTYPE_U16:
  case AMPC_DTYPE_I16:
  case AMPC_DTYPE_F16:
  case AMPC_DTYPE_BF16:
    return 2;
  case AMPC_DTYPE_F32:
  case AMPC_DTYPE_I32:
  case AMPC_DTYPE_U32:
    return 4;
  case AMPC_DTYPE_I64:
  case AMPC_DTYPE_F64:
  case AMPC_DTYPE_U64:
    return 8;
  default:
    return 0;
  }
}

const char *ampc_dtype_name(uint32_t dtype) {
  switch (dtype) {
  case AMPC_DTYPE_F32:
    return "f32";
  case AMPC_DTYPE_U8:
    return "u8";
  case AMPC_DTYPE_I8:
    return "i8";
  case AMPC_DTYPE_U16:
    return "u16";
  case AMPC_DTYPE_I16:
    return "i16";
  case AMPC_DTYPE_I32:
    return "i32";
  case AMPC_DTYPE_I64:
    return "i64";
  case AMPC_DTYPE_BOOL:
    return "bool";
  case AMPC_DTYPE_F16:
    return "f16";
  case AMPC_DTYPE_F64:
    return "f64";
  case AMPC_DTYPE_U32:
    return "u32";
  case AMPC_DTYPE_U64:
    return "u64";
  case AMPC_DTYPE_BF16:
    return "bf16";
  default:
    return "invalid";
  }
}

namespace ampc::runtime {

bool shapeSize(const int64_t *dims, size_t rank, size_t elementSize,
               uint64_t *outElements, uint64_t *outBytes) {
  // A zero anywhere makes the tensor empty, but the other dimensions must
  // still multiply to something that fits: strides are computed from them.
  uint64_t extent = elementSize;
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0) {
      return false;
    }
    empty |= dims[i] == 0;
    uint64_t factor = dims[i] ? static_cast<uint64_t>(dims[i]) : 1;
    if (mulOverflow(extent, factor, &extent)) {
      return false;
    }
  }
  if (extent > static_cast<uint64_t>(INT64_MAX)) {
    return false;
  }
  *outElements = empty ? 0 : extent / elementSize;
  *outBytes = empty ? 0 : extent;
  return true;
}

Str describe(uint32_t dtype, const int64_t *dims, size_t rank) {
  Str text(dtype == dtypeRaw16 ? "V2" : ampc_dtype_name(dtype));
  text.append(" [");
  for (size_t i = 0; i < rank; ++i) {
    text.appendf("%s%lld", i ? ", " : "", static_cast<long long>(dims[i]));
  }
  text.append("]");
  return text;
}

bool isFloat(uint32_t dtype) {
  return dtype == AMPC_DTYPE_F32 || dtype == AMPC_DTYPE_F64 ||
         dtype == AMPC_DTYPE_F16 || dtype == AMPC_DTYPE_BF16;
}

double elementAsDouble(uint32_t dtype, const void *data, uint64_t index) {
  const char *at =
      static_cast<const char *>(data) + index * ampc_dtype_size(dtype);
  switch (dtype) {
  case AMPC_DTYPE_F32:
    return loadLE<float>(at);
  case AMPC_DTYPE_F64:
    return loadLE<double>(at);
  case AMPC_DTYPE_F16:
    return ampc_f16_to_f64(loadLE<uint16_t>(at));
  case AMPC_DTYPE_BF16:
    return ampc_bf16_to_f64(loadLE<uint16_t>(at));
  case AMPC_DTYPE_U8:
  case AMPC_DTYPE_BOOL:
    return loadLE<uint8_t>(at);
  case AMPC_DTYPE_I8:
    return loadLE<int8_t>(at);
  case AMPC_DTYPE_U16:
    return loadLE<uint16_t>(at);
  case AMPC_DTYPE_I16:
    return loadLE<int16_t>(at);
  case AMPC_DTYPE_U32:
    return loadLE<uint32_t>(at);
  case AMPC_DTYPE_I32:
    return loadLE<int32_t>(at);
  case AMPC_DTYPE_U64:
    return static_cast<double>(loadLE<uint64_t>(at));
  case AMPC_DTYPE_I64:
    return static_cast<double>(loadLE<int64_t>(at));
  default:
    return 0;
  }
}

} // namespace ampc::runtime
