//===- ConvertElements.cpp - Constants in another float type --------------===//
#include "compiler/Export/ConvertElements.h"

#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "runtime/include/ampc/numerics.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace llvm;

namespace ampc::exporter {

using onnx::TensorProto;

unsigned getElementSize(int32_t type) {
  return type == TensorProto::FLOAT ? 4 : 2;
}

static float readElement(const uint8_t *from, int32_t type) {
  if (type == TensorProto::FLOAT) {
    float value;
    memcpy(&value, from, sizeof(value));
    return value;
  }
  uint16_t bits;
  memcpy(&bits, from, sizeof(bits));
  return type == TensorProto::FLOAT16 ? ampc_f16_to_f32(bits)
                                      : ampc_bf16_to_f32(bits);
}

/// `value` in 16 bits; `infinity` is that of the type, below which its largest
/// finite value lies.
static uint16_t narrow(float value, uint16_t (*round)(float),
                       uint16_t infinity) {
  uint16_t bits = round(value);
  return (bits & 0x7fff) == infinity && std::isfinite(value) ? bits - 1 : bits;
}

void convertElements(ArrayRef<uint8_t> bytes, int32_t from, int32_t to,
                     raw_ostream &os) {
  constexpr size_t chunk = 1 << 16;
  size_t width = getElementSize(from), count = bytes.size() / width;
  SmallVector<char, 0> buffer;
  for (size_t begin = 0; begin < count; begin += chunk) {
    size_t length = std::min(chunk, count - begin);
    buffer.resize(length * getElementSize(to));
    for (size_t i = 0; i < length; ++i) {
      float value = readElement(bytes.data() + (begin + i) * width, from);
      if (to == TensorProto::FLOAT) {
        memcpy(buffer.data() + i * 4, &value, 4);
        continue;
      }
      uint16_t bits = to == TensorProto::FLOAT16
                          ? narrow(value, ampc_f32_to_f16, 0x7c00)
                          : narrow(value, ampc_f32_to_bf16, 0x7f80);
      memcpy(buffer.data() + i * 2, &bits, 2);
    }
    os.write(buffer.data(), buffer.size());
  }
}

} // namespace ampc::exporter
