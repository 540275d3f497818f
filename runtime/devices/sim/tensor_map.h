//===- tensor_map.h - Tiled tensor maps -----------------------------------===//
//
// What cuTensorMapEncodeTiled makes, in a layout of the simulator's own: the
// hardware's is not documented.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_TENSOR_MAP_H
#define AMPC_RUNTIME_DEVICES_SIM_TENSOR_MAP_H

#include "runtime/core/support.h"

namespace ampc::runtime::sim {

/// The numbers of CUtensorMapSwizzle.
enum class Swizzle : uint8_t { none, bytes32, bytes64, bytes128 };

struct TensorMap {
  static constexpr uint32_t magicNumber = 0x504d4154; // "TAMP"
  static constexpr uint32_t maxRank = 5;

  uint32_t magic;
  uint8_t rank;
  uint8_t elementBytes;
  Swizzle swizzle;
  uint8_t fillNan; // out of bounds: NaN rather than zero
  uint8_t nanType; // CUtensorMapDataType, for the NaN
  uint8_t elementStrides[maxRank];
  uint16_t box[maxRank]; // of the traversed, see boxCount
  uint32_t sizesLess1[maxRank];
  uint64_t base;
  uint64_t strides[maxRank - 1]; // bytes, of dimensions 1 and up

  /// Elements along `dimension` that a copy has.
  uint32_t boxCount(uint32_t dimension) const {
    uint32_t stride = elementStrides[dimension];
    return (box[dimension] + stride - 1) / stride;
  }
  uint32_t boxBytes() const {
    uint32_t bytes = elementBytes;
    for (uint32_t i = 0; i < rank; ++i) {
      bytes *= boxCount(i);
    }
    return bytes;
  }
};
static_assert(sizeof(TensorMap) <= 128, "a CUtensorMap has 128 bytes");

/// Where the byte at shared address `address` of an unswizzled tile lies.
inline uint64_t swizzled(uint64_t address, Swizzle swizzle) {
  uint64_t bits = (1u << static_cast<uint32_t>(swizzle)) - 1;
  return address ^ (address >> 7 & bits) << 4;
}

struct TensorMapArguments {
  uint32_t dataType, rank; // CUtensorMapDataType
  const void *address;
  const uint64_t *sizes, *strides; // strides of dimensions 1 and up
  const uint32_t *box, *elementStrides;
  uint32_t interleave, swizzle, l2Promotion, oobFill; // the driver's numbers
};
/// AMPC_USAGE for what the driver refuses, AMPC_UNSUPPORTED for what only the
/// simulator does.
Status encodeTensorMap(const TensorMapArguments &arguments, TensorMap *out);

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_TENSOR_MAP_H
